import { afterEach } from '@jest/globals';
import { z } from 'zod';
import type { TestApp } from './http.ts';
import { parseWithNumbers } from './record-ids.ts';

/** A subscription as its caller has it. */
export interface Subscription {
  readonly status: number;
  readonly contentType: string | null;
  /** The next result; undefined = the server ended it. */
  next(): Promise<z.infer<typeof result> | undefined>;
  stop(): void;
}

const result = z.object({
  data: z.record(z.string(), z.unknown()).nullish(),
  errors: z.array(z.object({ message: z.string(), extensions: z.record(z.string(), z.unknown()).optional() })).optional(),
});

const open: AbortController[] = [];
afterEach(() => {
  for (const controller of open.splice(0)) controller.abort();
});

/** Subscribes by server-sent events; it ends with the test. @param search the query string, for a signature */
export async function subscribe(
  { url }: Pick<TestApp, 'url'>,
  query: string,
  headers: Readonly<Record<string, string>>,
  variables: object = {},
  search = '',
): Promise<Subscription> {
  const controller = new AbortController();
  open.push(controller);
  const response = await fetch(`${url}/graphql?${search}`, {
    method: 'POST',
    signal: controller.signal,
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
    body: JSON.stringify({ query, variables }),
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  return {
    status: response.status,
    contentType: response.headers.get('content-type'),
    stop: () => controller.abort(),
    async next() {
      for (;;) {
        const end = text.indexOf('\n\n');
        if (end >= 0) {
          const block = text.slice(0, end);
          text = text.slice(end + 2);
          const data = block.split('\n').filter((line) => line.startsWith('data:')).map((line) => line.slice(5).trim()).join('\n');
          if (/^event: *complete$/m.test(block)) return undefined;
          if (data !== '') return result.parse(parseWithNumbers(data));
          continue;
        }
        const chunk = await reader?.read();
        if (!chunk || chunk.done) return undefined;
        text += chunk.value;
      }
    },
  };
}
