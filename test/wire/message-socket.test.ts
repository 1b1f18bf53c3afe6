import { expect, test } from '@jest/globals';
import { MessageSocket } from '../../src/wire/message-socket.ts';

/** A socket with a message, and what happened to it in order. */
function open(message: string, attached = true) {
  const seen: string[] = [];
  const socket = new MessageSocket(message, (received) => seen.push(`received ${received?.toString() ?? 'nothing'}`));
  const sink = {
    onData: (chunk: Buffer) => seen.push(`sent ${chunk.toString()}`),
    onEnd: () => seen.push('end'),
    onDrain: () => undefined,
    onClose: () => seen.push('closed'),
  };
  if (attached) socket.attach(sink);
  return { socket, seen };
}

const nextIteration = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

test('each side has one message; the socket closes when both are through', async () => {
  const { socket, seen } = open('question');
  await nextIteration();
  expect(seen).toEqual(['sent question', 'end']);
  socket.write(Buffer.from('ans'));
  socket.write(Buffer.from('wer'));
  socket.end();
  expect(seen.slice(2)).toEqual(['received answer', 'closed']);
  socket.end();
  socket.destroy();
  expect(seen).toHaveLength(4);
});

test('an answer may come before the message is sent; an empty message is only an end', async () => {
  const { socket, seen } = open('');
  socket.end();
  expect(seen).toEqual(['received ']);
  await nextIteration();
  expect(seen).toEqual(['received ', 'end', 'closed']);
});

test('a stream that is cut off is reported once, and sends nothing more', async () => {
  const { socket, seen } = open('question');
  socket.write(Buffer.from('half'));
  socket.destroy();
  socket.destroy();
  socket.end();
  expect(seen).toEqual(['received nothing', 'closed']);
  await nextIteration();
  expect(seen).toHaveLength(2);
});

test('a message that arrived is kept although the stream is cut off before the own one is sent', async () => {
  const { socket, seen } = open('question');
  socket.end();
  socket.destroy();
  await nextIteration();
  expect(seen).toEqual(['received ', 'closed']);
});

test('of a message, 16 KB are kept, as a copy', () => {
  const { socket, seen } = open('', false);
  const chunk = Buffer.alloc(10_000, 'a');
  for (let i = 0; i < 3; i++) socket.write(chunk);
  chunk.fill('b');
  socket.end();
  expect(seen).toEqual([`received ${'a'.repeat(16_384)}`]);
});

test.each([10, 100_000])('of a message, %i bytes are kept if its receiver says so; the own one may be bytes', async (most) => {
  const seen: Buffer[] = [];
  const own = Buffer.from([0xff, 0]);
  const socket = new MessageSocket(own, (message) => message && seen.push(message), most);
  socket.attach({ onData: (chunk) => seen.push(chunk), onEnd: () => undefined, onDrain: () => undefined, onClose: () => undefined });
  await nextIteration();
  const parts = [Buffer.alloc(most - 1, 'a'), Buffer.from('bc')];
  for (const part of parts) socket.write(part);
  socket.end();
  expect(seen).toEqual([own, Buffer.concat(parts).subarray(0, most)]);
});
