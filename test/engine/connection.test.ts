import { expect, jest, test } from '@jest/globals';
import { ClientUsage } from '../../src/engine/limits/client-usage.ts';
import { Meter, NO_BYTES, Ticker } from '../../src/engine/limits/meter.ts';
import { Connection } from '../../src/engine/tunnels/connection.ts';
import { EmptySocket } from '../support/empty-socket.ts';
import { CLIENT } from '../support/tunnel.ts';

/** A visitor of a client with a rate limit, whose bytes pass when the test says so. */
function visitorWithLimit() {
  const ticker = new Ticker();
  const client = new ClientUsage(ticker, { ...CLIENT, rateLimit: 1 }, NO_BYTES, () => undefined);
  const visitor = new EmptySocket();
  const connection = new Connection(visitor, { reset: () => undefined }, { tunnel: new Meter(ticker, 'tunnel', 1, NO_BYTES), client });
  client.rateLimit?.leave(connection);
  const seen: string[] = [];
  connection.attach({
    onData: (bytes) => seen.push(String(bytes)),
    onEnd: () => seen.push('end'),
    onDrain: () => undefined,
    onClose: (error) => seen.push(error ? 'reset' : 'close'),
  });
  return { connection, client, visitor, seen };
}

test('a visitor that closes cleanly while its bytes wait for the rate limit: the target gets them, the end and the close, in this order', () => {
  const { connection, visitor, seen } = visitorWithLimit();
  visitor.sink?.onData(Buffer.from('hello'));
  visitor.sink?.onEnd();
  visitor.sink?.onClose();
  expect(seen).toEqual([]);
  connection.pass(2);
  expect(seen).toEqual(['he']);
  connection.pass(100);
  expect(seen).toEqual(['he', 'llo', 'end', 'close']);
});

test.each([['without an end', undefined], ['with an error', new Error('reset')]])(
  'one that closes %s meanwhile: what waits is lost, and the target is notified at once',
  (_, error) => {
    const { connection, visitor, seen } = visitorWithLimit();
    visitor.sink?.onData(Buffer.from('hello'));
    if (error) visitor.sink?.onEnd();
    visitor.sink?.onClose(error);
    connection.pass(100);
    expect(seen).toEqual([error ? 'reset' : 'close']);
  },
);

test('what waits for the rate limit stays as it came, in both directions, while others use its buffer', () => {
  const { connection, visitor, seen } = visitorWithLimit();
  const buffer = Buffer.from('hello');
  visitor.sink?.onData(buffer);
  connection.write(buffer);
  buffer.fill('x');
  connection.pass(100);
  expect([seen, Buffer.from(visitor.received, 'hex').toString()]).toEqual([['hello'], 'hello']);
});

test('a target that reads again gets what waits for the rate limit before anything else is read from the visitor', () => {
  const { connection, client, visitor, seen } = visitorWithLimit();
  visitor.sink?.onData(Buffer.from('hello'));
  client.rateLimit?.leave(connection);
  connection.pause();
  connection.pass(100);
  expect(seen).toEqual([]);
  connection.resume();
  client.rateLimit?.lift();
  expect(seen).toEqual(['hello']);
});

/** A connection with both sides noted, in the order in which bytes pass. @param limited nothing passes before `pass` */
function bothSides(limits: Partial<typeof CLIENT>, limited: boolean) {
  const ticker = new Ticker();
  const client = new ClientUsage(ticker, { ...CLIENT, ...limits, rateLimit: limited ? 1 : 0 }, NO_BYTES, () => seen.push('exhausted'));
  const tunnel = new Meter(ticker, 'host', 7, NO_BYTES);
  const seen: string[] = [];
  class Visitor extends EmptySocket {
    override readonly remoteAddress = '192.0.2.1';
    override readonly remotePort = 1234;
    override readonly pending = 5;
    takes = true;
    override write(chunk: Buffer, taken?: () => void): boolean {
      seen.push(`to visitor ${String(chunk)}`);
      taken?.();
      return this.takes;
    }
    override pause(): void {
      seen.push('visitor paused');
    }
    override resume(): void {
      seen.push('visitor resumed');
    }
    override end(): void {
      seen.push('visitor ended');
    }
  }
  const visitor = new Visitor();
  const target = { fills: false };
  const connection = new Connection(visitor, { reset: () => seen.push('cut') }, { tunnel, client });
  connection.attach({
    onData: (bytes) => {
      seen.push(`to target ${String(bytes)}`);
      if (target.fills) connection.pause();
    },
    onEnd: () => seen.push('target ended'),
    onDrain: () => seen.push('drain'),
    onClose: () => seen.push('closed'),
  });
  const does = (work: () => unknown): unknown[] => {
    seen.length = 0;
    const result = work();
    client.rateLimit?.leave(connection);
    return [...seen, result];
  };
  return { connection, visitor, target, client, tunnel, does };
}

test('without a rate limit everything passes at once, and counts for the connection, its host and its client', () => {
  const { connection, visitor, client, tunnel, does } = bothSides({}, false);
  expect(does(() => visitor.sink?.onData(Buffer.from('abc')))).toEqual(['to target abc', undefined]);
  expect(does(() => connection.write(Buffer.from('de')))).toEqual(['to visitor de', true]);
  visitor.takes = false;
  let taken = 0;
  expect(does(() => connection.write(Buffer.from('fghi'), () => taken++))).toEqual(['to visitor fghi', false]);
  expect([taken, connection.pending, client.inlet, client.export, tunnel.inlet, tunnel.export]).toEqual([1, 5, 3, 6, 3, 6]);
  expect(connection.state).toMatchObject({ clientId: 1, through: { kind: 'host', id: 7 }, address: '192.0.2.1', port: 1234, inletBytes: 3, exportBytes: 6 });
  expect(does(() => visitor.sink?.onDrain())).toEqual(['drain', undefined]);
  expect(does(() => visitor.sink?.onEnd())).toEqual(['target ended', undefined]);
  expect(does(() => connection.end())).toEqual(['visitor ended', undefined]);
  expect(does(() => connection.cut())).toEqual(['cut', undefined]);
});

test('under a rate limit both directions pass in round-robin order, and each goes on when its other end takes more', () => {
  const { connection, visitor, does } = bothSides({}, true);
  expect(does(() => visitor.sink?.onData(Buffer.from('abcd')))).toEqual(['visitor paused', undefined]);
  expect(does(() => connection.write(Buffer.from('123')))).toEqual([true]);
  expect(does(() => connection.write(Buffer.from('456')))).toEqual([true]);
  expect(connection.pending).toBe(5 + 6);
  expect(does(() => connection.pass(4))).toEqual(['to target abcd', 'visitor resumed', 4]);
  expect(does(() => visitor.sink?.onData(Buffer.from('ef')))).toEqual(['visitor paused', undefined]);
  expect(does(() => connection.pass(4))).toEqual(['to visitor 123', 'to target e', 4]);
  // The target takes nothing, then the visitor takes nothing.
  expect(does(() => connection.pause())).toEqual(['visitor paused', undefined]);
  visitor.takes = false;
  expect(does(() => connection.pass(9))).toEqual(['to visitor 456', 3]);
  expect(does(() => connection.write(Buffer.from('7')))).toEqual([true]);
  expect(does(() => connection.pass(9))).toEqual([0]);
  connection.resume();
  expect(does(() => connection.pass(9))).toEqual(['to target f', 'visitor resumed', 1]);
  visitor.takes = true;
  connection.end();
  visitor.sink?.onDrain();
  expect(does(() => connection.pass(9))).toEqual(['to visitor 7', 'visitor ended', 'drain', 1]);
});

test('a stream is paused above 512 KB that wait for the rate limit, and goes on below that', () => {
  const { connection, does } = bothSides({}, true);
  expect(does(() => connection.write(Buffer.alloc(524_288, 'a')))).toEqual([true]);
  expect(does(() => connection.write(Buffer.from('b')))).toEqual([false]);
  expect(does(() => connection.pass(1))).toEqual(['to visitor a', 'drain', 1]);
  expect(does(() => connection.pass(1))).toEqual(['to visitor a', 1]);
});

test('the bytes that exceed the flow limit do not pass', () => {
  const { connection, visitor, does } = bothSides({ flowLimit: 3 }, false);
  expect(does(() => visitor.sink?.onData(Buffer.from('abc')))).toEqual(['to target abc', undefined]);
  let taken = 0;
  expect(does(() => connection.write(Buffer.from('d'), () => taken++))).toEqual(['exhausted', false]);
  expect(does(() => visitor.sink?.onData(Buffer.from('e')))).toEqual([undefined]);
  expect(taken).toBe(1);
});

test('a visitor whose last waiting bytes fill the target is read again when the target takes more', () => {
  const { connection, visitor, target, does } = bothSides({}, true);
  visitor.sink?.onData(Buffer.from('ab'));
  target.fills = true;
  expect(does(() => connection.pass(9))).toEqual(['to target ab', 'visitor paused', 2]);
  expect(does(() => connection.resume())).toEqual(['visitor resumed', undefined]);
});

test('nothing that waits is written after one of both sides is gone', () => {
  for (const end of ['visitor', 'target'] as const) {
    const { connection, visitor, does } = bothSides({}, true);
    visitor.sink?.onData(Buffer.from('a'));
    connection.write(Buffer.from('b'));
    if (end === 'visitor') visitor.sink?.onClose(new Error('reset'));
    else connection.destroy();
    expect(does(() => connection.pass(9))).toEqual([0]);
  }
});

test('another rate holds for bytes that wait already, and without a limit they pass at once', () => {
  const { client, visitor, seen } = visitorWithLimit();
  const { rateLimit } = client;
  visitor.sink?.onData(Buffer.from('hello'));
  client.setLimits({ ...CLIENT, rateLimit: 2 });
  expect([client.rateLimit === rateLimit, seen]).toEqual([true, []]);
  client.setLimits(CLIENT);
  expect([client.rateLimit, seen]).toEqual([undefined, ['hello']]);
});

test('the rate of a connection is that of both directions in the last whole second', () => {
  let now = 0;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
  try {
    const { connection, visitor } = bothSides({}, false);
    visitor.sink?.onData(Buffer.from('abc'));
    connection.write(Buffer.from('123456'));
    const rates = [999, 1000, 1999, 2000].map((ms) => {
      now = ms;
      return connection.state.rate;
    });
    expect(rates).toEqual([0, 9, 9, 0]);
    connection.write(Buffer.from('12345'));
    now = 4000;
    expect(connection.state.rate).toBe(0);
  } finally {
    clock.mockRestore();
  }
});
