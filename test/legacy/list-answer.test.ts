import { once } from 'node:events';
import http, { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from '@jest/globals';
import express, { type Response } from 'express';
import { addressOf } from '../../src/http/listening.ts';
import { ListAnswer, sendList, sendRecord } from '../../src/legacy/list-answer.ts';

const ends: Array<() => void> = [];
afterEach(() => ends.splice(0).forEach((end) => end()));

/** The slots for long operations, of which some may be taken only later. */
class Slots {
  taken = 0;
  ended = 0;
  /** Awaited before a slot is given. */
  wait: Promise<unknown> = Promise.resolve();
  walk = () => ({ ended: true });
  nextSlice = () => undefined;
  takeSlot = async () => {
    this.taken++;
    await this.wait;
    return () => void this.ended++;
  };
}

/** Answers a request so. @returns what the reader gets, and what became of the answer */
async function answered(send: (response: Response) => Promise<void>) {
  const app = express();
  const sent = new Promise<void>((resolve, reject) => {
    app.get('/', (_request, response) => {
      const closed = once(response, 'close');
      send(response).then(() => closed).then(() => resolve(), (error: unknown) => {
        response.destroy();
        reject(error);
      });
    });
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  ends.push(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, 'listening');
  const request = http.get({ port: addressOf(server).port, host: '127.0.0.1' });
  request.on('error', () => undefined);
  return { request, sent };
}
async function read(send: (response: Response) => Promise<void>) {
  const { request, sent } = await answered(send);
  const [response] = await once(request, 'response') as [http.IncomingMessage];
  const body = await text(response);
  await sent;
  return { body, length: response.headers['content-length'] };
}

const part = 128 * 1024;

test.each([[part, 0], [part + 1, 1]])(
  'a record of %i characters is %i of the long operations of its caller until its reader has it',
  async (characters, count) => {
    const slots = new Slots();
    const record = { a: 'x'.repeat(characters - '{"a":""}'.length) };
    expect((await read((response) => sendRecord(response, record, slots))).body).toBe(JSON.stringify(record));
    expect([slots.taken, slots.ended]).toEqual([count, count]);
  },
);

test('a record whose reader leaves while it waits for its turn takes no place afterwards', async () => {
  const slots = new Slots();
  const { request, sent } = await answered((response) => {
    slots.wait = once(response, 'close');
    request.destroy();
    return sendRecord(response, { a: 'x'.repeat(part) }, slots);
  });
  await sent;
  expect([slots.taken, slots.ended]).toEqual([1, 1]);
});

/** A list of rows, of which it notes how many were wanted each time. */
function listOf(rows: readonly object[]) {
  const wanted: number[] = [];
  const walk = { ended: false };
  let at = 0;
  const list = new ListAnswer(walk, async (count) => {
    wanted.push(count);
    const some = rows.slice(at, at + count);
    at += some.length;
    walk.ended = at === rows.length;
    return { rows: some, total: rows.length, beside: 1 };
  });
  return { list, wanted };
}

test.each([[5, [10], 0], [100, [10, 90], 0], [250, [10, 90, 100, 100], 1]] as const)(
  'a list of %i rows is read in parts of %j rows, and is %i of the long operations',
  async (count, parts, slot) => {
    const slots = new Slots();
    const rows = Array.from({ length: count }, (_, n) => ({ n }));
    const { list, wanted } = listOf(rows);
    const { body, length } = await read((response) => sendList(response, list, slots));
    expect(body).toBe(JSON.stringify({ rows, total: count, beside: 1 }));
    expect([wanted, slots.taken, slots.ended, length]).toEqual([parts, slot, slot, slot === 0 ? String(body.length) : undefined]);
  },
);

test('of long rows as many are read at once as are sent at once, at least one', async () => {
  const slots = new Slots();
  const rows = [...Array.from({ length: 10 }, () => 'x'.repeat(50_000)), ...Array.from({ length: 4 }, () => 'x'.repeat(200_000))].map((a) => ({ a }));
  const { list, wanted } = listOf(rows);
  let listeners = 1;
  const { body } = await read(async (response) => {
    await sendList(response, list, slots);
    listeners = response.listenerCount('drain');
  });
  expect(body).toBe(JSON.stringify({ rows, total: 14, beside: 1 }));
  expect([wanted, slots.taken, slots.ended, listeners]).toEqual([[10, 2, 1, 1], 1, 1, 0]);
});

test('to read rows and to write each part takes a time slice, and a part comes when the reader has the one before: who reads nothing fills no memory', async () => {
  const slots = new Slots();
  const steps: unknown[] = [];
  slots.nextSlice = () => void steps.push('slice');
  await read((response) => {
    // Longer than what the system takes at once.
    const toJSON = () => {
      steps.push(response.writableLength);
      return 'x'.repeat(16 * 1024 * 1024);
    };
    const list = new ListAnswer({ ended: true }, async () => {
      steps.push('read');
      return { rows: [{ toJSON }, { toJSON }, { toJSON }], total: 3 };
    });
    return sendList(response, list, slots);
  });
  expect(steps).toEqual(['slice', 'read', 'slice', 0, 'slice', 0, 'slice', 0, 'slice']);
});

test('a list that fails leaves its place among the long operations', async () => {
  const slots = new Slots();
  const failure = new Error('no database');
  const list = new ListAnswer({ ended: false }, async (count) => {
    if (count === 100) throw failure;
    return { rows: Array.from({ length: count }, () => ({})), total: 1000 };
  });
  const { sent } = await answered((response) => sendList(response, list, slots));
  await expect(sent).rejects.toBe(failure);
  expect([slots.taken, slots.ended]).toEqual([1, 1]);
});
