import type { GraphiQLProvider } from '@graphiql/react';
import type { ComponentProps } from 'react';
import * as z from 'zod/mini';
import { base } from '../base.ts';

type Fetcher = ComponentProps<typeof GraphiQLProvider>['fetcher'];

const Result = z.record(z.string(), z.unknown());
const Viewer = z.object({
  data: z.object({
    viewer: z.object({ role: z.string(), user: z.nullable(z.object({ id: z.string() })), client: z.nullable(z.object({ id: z.string() })) }),
  }),
});

async function post(body: unknown, headers: Readonly<Record<string, string>> = {}, signal?: AbortSignal): Promise<Response> {
  return fetch(`${base}/graphql`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify(body),
    ...(signal !== undefined && { signal }),
  });
}

/** Reads the caller: a text that differs for each user and client. */
export async function readCaller(): Promise<string> {
  const response = await post({ query: '{ viewer { role user { id } client { id } } }' });
  const { role, user, client } = Viewer.parse(await response.json()).data.viewer;
  return [role, user?.id, client?.id].filter((part) => part !== undefined).join('-');
}

/** Runs an operation: the results of a subscription arrive as events, until it is stopped. */
export const fetcher: Fetcher = (operation, options) => {
  const stop = new AbortController();
  const results = resultsOf(operation, options?.headers, stop.signal);
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => results.next(),
      // Not the generator's: that would wait for the next event.
      async return() {
        stop.abort();
        return { done: true, value: undefined };
      },
    }),
  };
};

async function* resultsOf(operation: unknown, headers: Readonly<Record<string, string>> | undefined, stop: AbortSignal) {
  try {
    const response = await post(operation, headers, stop);
    if (response.headers.get('content-type')?.startsWith('text/event-stream') && response.body !== null) {
      for await (const data of eventsOf(response.body)) yield Result.parse(JSON.parse(data));
    } else yield Result.parse(await response.json());
  } catch (error) {
    if (!stop.aborted) throw error;
  }
}

/** The data of each event that has some: comments and the event at the end have none. */
async function* eventsOf(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const events = (text + part.value).split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) {
      const data = event.split('\n').filter((line) => line.startsWith('data:')).map((line) => line.slice('data:'.length).trim()).join('\n');
      if (data !== '') yield data;
    }
  }
}
