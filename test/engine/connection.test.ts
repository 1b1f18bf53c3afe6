import { expect, test } from '@jest/globals';
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
