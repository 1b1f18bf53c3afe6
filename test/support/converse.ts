import net from 'node:net';
import { expect } from '@jest/globals';
import type { Conversation, Step, TakenRequest } from './conversation.ts';
import { RecordedSocket } from './recorded-socket.ts';
import type { RawOrigin } from './raw-origin.ts';

/** A whole conversation takes no longer, in ms. */
const TIMEOUT_MS = 5000;

/** The origin's part of a conversation. */
export interface OriginPart {
  /** An origin that follows the steps of the conversation. */
  readonly raw?: RawOrigin;
  /** One that answers by itself: the next request that it took. */
  readonly took?: () => Promise<TakenRequest>;
  /** What it says is not the same each time: makes it so, without changing its length. */
  readonly settle?: (seen: string) => string;
}

/** Has a conversation through a port, asserts what each end sees, and that neither sees anything else. @returns the steps that were made */
export async function converse({ from = '127.0.0.1', steps }: Conversation, port: number, part: OriginPart): Promise<number> {
  const socket = net.connect({ port, host: '127.0.0.1', localAddress: from, allowHalfOpen: true });
  const visitor = new RecordedSocket(socket);
  let at = -1;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const origins = part.raw?.connections.map(({ unread }) => unread.slice(0, 500)) ?? [];
      reject(
        new Error(
          `step ${at} (${JSON.stringify(steps[at] ?? 'the end').slice(0, 500)}) does not happen; not asked for: ${
            JSON.stringify({ visitor: visitor.unread.slice(0, 500), origins })
          }`,
        ),
      );
    }, TIMEOUT_MS);
  });
  try {
    return await Promise.race([late, run()]);
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }

  async function run(): Promise<number> {
    let connection = 0;
    for (const [index, step] of steps.entries()) {
      at = index;
      if (step.does === 'accepts') connection++;
      else if (step.does === 'took') expect(await part.took?.()).toEqual(step.request);
      else if (step.who === 'visitor') await perform(step, visitor, part.settle);
      else if (part.raw) await perform(step, await part.raw.connection(connection), undefined);
      else throw new Error('this origin speaks by itself');
    }
    at = steps.length;
    await over(visitor, part.raw, steps.some(({ who }) => who === 'origin') ? connection + 1 : 0);
    return at;
  }
}

/** Does a step at its end of the conversation. */
async function perform(
  step: Exclude<Step, { does: 'accepts' | 'took' }>,
  end: RecordedSocket,
  settle: (seen: string) => string = (seen) => seen,
): Promise<void> {
  switch (step.does) {
    case 'says':
      end.socket.write(step.text, 'latin1');
      return;
    case 'ends':
      end.socket.end();
      return;
    case 'resets':
      end.socket.resetAndDestroy();
      return;
    case 'sees':
      expect(await end.take(step.text, settle)).toBe(step.text);
      return;
    case 'seesEnd':
      expect({ end: await end.ended(), unread: end.unread }).toEqual({ end: 'end', unread: '' });
      return;
    case 'seesReset':
      expect({ end: await end.ended(), unread: end.unread }).toEqual({ end: 'reset', unread: '' });
      return;
    case 'isRefused': {
      const { status, head, body } = await end.takeResponse();
      expect({ status, closing: /\r\nConnection: close\r\n/.test(head), body }).toEqual({
        status: step.status,
        closing: step.closing,
        body: expect.stringMatching(step.body),
      });
    }
  }
}

/** Ends what is still open, and looks whether anything came that was not expected. */
async function over(visitor: RecordedSocket, raw: RawOrigin | undefined, expected: number): Promise<void> {
  visitor.socket.end();
  for (const { socket } of raw?.connections ?? []) socket.end();
  await Promise.all([visitor.closed, ...raw?.connections.map(({ closed }) => closed) ?? []]);
  expect({ visitor: visitor.unread, origins: raw?.connections.map(({ unread }) => unread) }).toEqual({
    visitor: '',
    origins: raw && Array.from({ length: expected }, () => ''),
  });
}
