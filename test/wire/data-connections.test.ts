import { afterEach, expect, test } from '@jest/globals';
import { type DataConnectionLimits, DataConnections } from '../../src/wire/data-connections.ts';
import { Mux, type Stream } from '../../src/wire/mux.ts';
import { EmptySocket } from '../support/empty-socket.ts';

let mux: Mux | undefined;
afterEach(() => {
  mux?.close('the test is over');
  mux = undefined;
});

/** A stream with its socket. */
function visit(): { readonly stream: Stream; readonly local: EmptySocket } {
  mux ??= new Mux(new EmptySocket(), 'agent', { onOpen: () => undefined, onControl: () => undefined, onClose: () => undefined });
  const stream = mux.open(Buffer.alloc(0));
  if (!stream) throw new Error('the session takes no more');
  const local = new EmptySocket();
  stream.join(local);
  return { stream, local };
}

/** Those of an agent, and what it was asked to dial. */
function agent(limits?: DataConnectionLimits) {
  const wanted: number[] = [];
  const connections = new DataConnections('agent', (ids) => wanted.push(...ids), 0, limits);
  connections.refill();
  const add = (id: number): EmptySocket => {
    const socket = new EmptySocket();
    connections.add(socket, id);
    return socket;
  };
  return { connections, wanted, add };
}

test('a session keeps 256 data connections, and closes what comes beyond them', () => {
  const connections = new DataConnections('server', undefined);
  const sockets = Array.from({ length: 300 }, () => new EmptySocket());
  for (const [index, socket] of sockets.entries()) connections.add(socket, index + 1);
  expect(sockets.filter(({ destroyed }) => destroyed)).toEqual(sockets.slice(256));
  connections.close();
  expect(sockets.every(({ destroyed }) => destroyed)).toBe(true);
  const late = new EmptySocket();
  connections.add(late, 999);
  expect(late.destroyed).toBe(true);
});

test('a connection that is closed while nobody uses it makes room for another one, and no stream takes it', () => {
  const connections = new DataConnections('server', undefined);
  const sockets = Array.from({ length: 257 }, () => new EmptySocket());
  const last = sockets.pop();
  for (const [index, socket] of sockets.entries()) connections.add(socket, index + 1);
  sockets[254]?.destroy();
  if (last) connections.add(last, 257);
  expect(last?.destroyed).toBe(false);
  // Newer ones are taken first.
  const { stream } = visit();
  expect([1, 2].map(() => connections.claim(stream, undefined)?.id)).toEqual([257, 253]);
  connections.close();
});

test('a number that is taken is not taken again', () => {
  const connections = new DataConnections('server', undefined);
  const [first, second] = [new EmptySocket(), new EmptySocket()];
  connections.add(first, 7);
  connections.add(second, 7);
  expect([first.destroyed, second.destroyed]).toEqual([false, true]);
  connections.close();
});

test.each([0, 1])('an agent keeps 4 idle connections for each side, as many as the side uses if it uses more, and 32 at most (side %i)', (side) => {
  const { connections, wanted, add } = agent({ most: 10_000, ofOwner: 10_000 });
  const ofSide = () => wanted.filter((id) => id % 2 === side);
  const added = new Set<number>();
  const idle = [];
  for (let busy = 0; busy <= 40; busy++) {
    for (const id of ofSide().filter((each) => !added.has(each))) {
      add(id);
      added.add(id);
    }
    idle.push(added.size - busy);
    const { stream } = visit();
    // The agent takes its own, the server says which one of its own it takes.
    if (side === 0) expect(connections.claim(stream, undefined)).toBeDefined();
    else connections.receiveMove(stream, [...added][busy] ?? 0);
  }
  expect(idle).toEqual(Array.from({ length: 41 }, (_, busy) => Math.min(32, Math.max(4, busy))));
  expect(wanted.filter((id) => id % 2 !== side).length).toBe(4);
  connections.close();
});

test('an agent asks for no more connections than a session may have', () => {
  const { connections, wanted, add } = agent({ most: 7, ofOwner: 7 });
  expect(wanted).toEqual([3, 5, 7, 9, 10, 12, 14]);
  for (const id of wanted) add(id);
  connections.claim(visit().stream, undefined);
  expect(wanted.length).toBe(7);
  connections.close();
});

test('an agent takes the connections that it was asked for, and no others', () => {
  const { connections, add } = agent();
  expect([2, 3, 18, 16].map((id) => add(id).destroyed)).toEqual([true, false, true, false]);
  connections.close();
});

test('a stream waits for a connection that is being dialed; without one it is reset', () => {
  const { connections, add } = agent();
  const [waiting, second, unknown, failed, used] = [visit(), visit(), visit(), visit(), visit()];
  connections.receiveMove(waiting.stream, 3);
  connections.receiveMove(second.stream, 3);
  connections.receiveMove(unknown.stream, 999);
  connections.receiveMove(failed.stream, 5);
  expect([waiting, second, unknown, failed].map(({ stream }) => stream.over)).toEqual([false, true, true, false]);
  connections.failed(5);
  expect(failed.stream.over).toBe(true);
  expect(add(5).destroyed).toBe(true);
  add(3).sink?.onData(Buffer.from('a'));
  expect(waiting.local.received).toBe('61');
  connections.receiveMove(used.stream, 3);
  expect([waiting.stream.over, used.stream.over]).toEqual([false, true]);
  // A connection that carries a direction of a stream that is over here is of no use to anybody.
  const lost = add(7);
  connections.receiveMove(undefined, 7);
  expect(lost.destroyed).toBe(true);
  connections.close();
  expect(add(9).destroyed).toBe(true);
});

test('a stream takes the connection of its other direction if that is free, otherwise one that nobody has used', () => {
  const { connections, add } = agent();
  const [both, other, third] = [visit(), visit(), visit()];
  // Newer ones are taken first.
  const [last, free, ended, early, theirs] = [10, 12, 14, 16, 3].map(add);
  early?.sink?.onData(Buffer.from('its MOVE is on the way'));
  // It closes later.
  if (ended) ended.destroy = () => undefined;
  ended?.sink?.onEnd();
  connections.receiveMove(both.stream, 3);
  const preferred = connections.claim(other.stream, undefined);
  expect(preferred?.id).toBe(12);
  expect(connections.claim(third.stream, preferred)?.id).toBe(10);
  expect(connections.claim(third.stream, undefined)).toBeUndefined();
  expect([last, free, ended, early, theirs].map((socket) => socket?.destroyed)).toEqual([false, false, false, false, false]);
  connections.close();
});
