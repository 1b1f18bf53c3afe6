import { once } from 'node:events';
import http from 'node:http';
import { afterEach, expect, jest, test } from '@jest/globals';
import pino from 'pino';
import { AcmeProblem, answerOf } from '../../../src/engine/acme/acme-problem.ts';
import { ACME_TIMING } from '../../../src/engine/acme/acme-timing.ts';
import { CertificateAuthority } from '../../../src/engine/acme/certificate-authority.ts';
import { AcmeFiles } from '../../../src/engine/acme/files.ts';
import { OrderBook } from '../../../src/engine/acme/order-book.ts';
import { Orderer } from '../../../src/engine/acme/orderer.ts';
import { type AcmeOrders, currentOrders, mayBegin, NO_ORDERS, withoutChallenge } from '../../../src/engine/acme/orders.ts';
import { dueAt, newlyWanted, renewalOf } from '../../../src/engine/acme/wanted-name.ts';
import { certificatePair } from '../../../src/rules/certificate.ts';
import { writePrivately } from '../../../src/settings/private-file.ts';
import { addressOf } from '../../../src/http/listening.ts';
import { covering } from '../../support/certificates.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { LogRecorder } from '../../support/log-recorder.ts';

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
const silent = pino({ level: 'silent' });

const dir = temporaryDirectory();
const spies: Array<{ mockRestore(): void }> = [];
afterEach(() => {
  for (const spy of spies.splice(0)) spy.mockRestore();
});

/** What the program says of an answer of the authority; what is no problem is passed on. */
function problemOf(error: unknown): unknown {
  try {
    return answerOf(error);
  } catch (problem) {
    return problem instanceof AcmeProblem ? [problem.message, problem.reason, problem.retryAfterMs] : problem;
  }
}

test("an authority's answer is a problem with its text, its type, and the time that it asks to wait", () => {
  spies.push(jest.spyOn(Date, 'now').mockReturnValue(Date.parse('Fri, 27 Nov 2026 10:00:00 GMT')));
  const answer = (status: number, data: unknown, retryAfter?: string) =>
    Object.assign(new Error('x'), { response: { status, data, headers: { 'retry-after': retryAfter } } });
  const type = 'urn:ietf:params:acme:error:rateLimited';
  expect(problemOf(answer(429, { type, detail: 'a\n\0b' }, '120'))).toEqual(['a b', 'rateLimited', 120_000]);
  expect(problemOf(answer(400, { type: 'about:blank', detail: 'x'.repeat(600) }, 'Fri, 27 Nov 2026 10:00:05 GMT'))).toEqual(['x'.repeat(500), '', 5000]);
  expect(problemOf(answer(503, 'no JSON', 'Fri, 27 Nov 2026 09:00:00 GMT'))).toEqual(['the certificate authority answered with status 503', '', 0]);
  expect(problemOf(answer(400, {}, 'soon'))).toEqual(['the certificate authority answered with status 400', '', 0]);
  // The library handles these.
  for (const expected of [answer(399, {}), answer(400, { type: 'urn:ietf:params:acme:error:badNonce', detail: 'x' })]) {
    expect(problemOf(expected)).toBe(expected.response);
  }
  expect(problemOf(new Error('gone'))).toEqual(['the certificate authority cannot be reached: gone', '', 0]);
  expect(problemOf(Object.assign(new Error(''), { code: 'ECONNREFUSED' }))).toEqual(['the certificate authority cannot be reached: ECONNREFUSED', '', 0]);
  expect(problemOf('thrown')).toBe('thrown');
});

test('an answer of more than 1 MB is no answer', async () => {
  const server = http.createServer((_, response) => response.end('x'.repeat(1024 * 1024 + 1))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const directory = `http://127.0.0.1:${addressOf(server).port}/directory`;
  const authority = new CertificateAuthority({ directory, email: '' }, new AcmeFiles({ dir, write: writePrivately }, directory, silent));
  const ordered = authority.order('a.test', async () => undefined, new AbortController().signal);
  await expect(ordered).rejects.toThrow('the certificate authority cannot be reached: maxContentLength size of 1048576 exceeded');
  server.closeAllConnections();
  server.close();
});

test('of the orders, those of the last hour and the open challenges count, and no clock that is ahead delays others', () => {
  const now = 10 * DAY;
  const challenge = (at: number) => ({ name: 'a', token: 't', answer: 'k', at });
  const orders: AcmeOrders = {
    begun: [now - HOUR, now - HOUR + 1, now, now + DAY].map((at, clientId) => ({ at, clientId })),
    pausedUntil: now + DAY,
    challenges: [-6 * MINUTE, -6 * MINUTE + 1, 0, 6 * MINUTE - 1, 6 * MINUTE].map((away) => challenge(now + away)),
  };
  expect(currentOrders(orders, now)).toEqual({
    begun: [{ at: now - HOUR + 1, clientId: 1 }, { at: now, clientId: 2 }, { at: now, clientId: 3 }],
    pausedUntil: now + HOUR,
    challenges: [-6 * MINUTE + 1, 0, 6 * MINUTE - 1].map((away) => challenge(now + away)),
  });
  expect(currentOrders({ ...orders, pausedUntil: now + 5 }, now).pausedUntil).toBe(now + 5);
  const two = { ...orders, challenges: [{ ...challenge(1), name: 'b' }, challenge(2), challenge(3)] };
  expect(withoutChallenge(two, 'a')).toEqual({ ...orders, challenges: [{ ...challenge(1), name: 'b' }] });
});

test('a client begins no more orders than it leaves to others, and nobody does while the authority asks to wait', () => {
  const of = (...clientIds: number[]): AcmeOrders => ({ ...NO_ORDERS, begun: clientIds.map((clientId) => ({ at: 0, clientId })) });
  expect([of(1), of(1, 1), of(1, 1, 2), of(2, 2, 2, 2), of(2, 2, 2, 2, 2)].map((orders) => mayBegin(orders, 1, 0, 5))).toEqual([true, true, true, true, false]);
  expect([of(1, 1, 1), of(2, 1, 1)].map((orders) => mayBegin(orders, 1, 0, 5))).toEqual([false, true]);
  expect([9, 10].map((now) => mayBegin({ ...NO_ORDERS, pausedUntil: 10 }, 1, now, 5))).toEqual([false, true]);
});

test('attempts for a name can be requested a few times an hour, by all servers together', () => {
  const book = new OrderBook();
  const request = (now: number, others: readonly number[] = [], orders = NO_ORDERS) => book.request('a', others, orders, now, 2);
  expect([request(100), request(200), request(300)]).toEqual([{ kind: 'started' }, { kind: 'started' }, { kind: 'later', at: 100 + HOUR }]);
  expect(book.retriesOf('a')).toEqual([100, 200]);
  expect(request(100 + HOUR)).toEqual({ kind: 'started' });
  expect(book.retriesOf('a')).toEqual([200, 100 + HOUR]);
  expect(request(150 + HOUR, [10, 50 + HOUR, 60 + HOUR])).toEqual({ kind: 'later', at: 50 + 2 * HOUR });
  expect(request(201 + HOUR, [], { ...NO_ORDERS, pausedUntil: 900 + HOUR })).toEqual({ kind: 'later', at: 900 + HOUR });
  // Requests that no longer count are forgotten, also those of other names.
  expect(book.request('b', [], NO_ORDERS, 100 + 2 * HOUR, 2)).toEqual({ kind: 'started' });
  expect([book.retriesOf('a'), book.retriesOf('b')]).toEqual([undefined, [100 + 2 * HOUR]]);
});

test('when the clock is set back, delays and limits stay as long as they were', () => {
  const book = new OrderBook();
  book.useRetries('a', [1000, 2000]);
  book.begin(1000, 7);
  book.begin(2000, 8);
  book.pauseUntil(3000);
  book.clockSetBack(100);
  expect(book.retriesOf('a')).toEqual([900, 1900]);
  expect(book.orders).toEqual({ begun: [{ at: 900, clientId: 7 }, { at: 1900, clientId: 8 }], pausedUntil: 2900, challenges: [] });
  book.keepCurrent(HOUR + 1000);
  expect(book.orders).toEqual({ begun: [{ at: 1900, clientId: 8 }], pausedUntil: 2900, challenges: [] });
});

test('a certificate is renewed at two thirds of its lifetime, and an order that failed is due as it was kept, but not later than the longest delay', () => {
  const facts = { ...certificatePair(covering.certificate, covering.key), validFrom: new Date(100), validTo: new Date(400) };
  expect([renewalOf(facts, 5), renewalOf(undefined, 5)]).toEqual([300, 5]);
  const attempt = (nextAt: number) => ({ failures: 1, problem: 'x', nextAt });
  expect([dueAt(facts, undefined, 5, 50), dueAt(facts, attempt(54), 5, 50), dueAt(facts, attempt(56), 5, 50)]).toEqual([300, 54, 55]);
});

/** An authority that refuses every order. */
class Refusing extends CertificateAuthority {
  forgotten = 0;
  problem: Error = new Error('the first');

  override order(): Promise<never> {
    return Promise.reject(this.problem);
  }

  override async forgetAccount(): Promise<void> {
    this.forgotten++;
  }
}

test('after a failure a name waits, twice as long each time, as long as the authority asks; others wait if it limits them', async () => {
  spies.push(jest.spyOn(Math, 'random').mockReturnValue(0.5));
  const directory = 'https://ca.test/directory';
  const files = new AcmeFiles({ dir, write: writePrivately }, directory, silent);
  const authority = new Refusing({ directory, email: '' }, files);
  const [book, log] = [new OrderBook(), new LogRecorder()];
  const now = 1_800_000_000_000;
  const changes: string[] = [];
  const orderer = new Orderer({
    files,
    authority,
    book,
    log: log.logger,
    now: () => now,
    timing: ACME_TIMING,
    amongOthers: false,
    isStopping: () => false,
    onChange: (name) => changes.push(name),
  });
  const wanted = newlyWanted('a.test', 3);
  const failed = async (problem: Error, failures = wanted.failures) => {
    authority.problem = problem;
    wanted.failures = failures;
    expect(await orderer.place(wanted)).toBe(true);
    expect((await files.kept('a.test')).attempt).toEqual({ failures: failures + 1, problem: problem.message, lastAt: now, nextAt: wanted.nextAt });
    return [wanted.problem, wanted.failures, (wanted.nextAt ?? 0) - now];
  };
  const acme = (type: string, retryAfterMs: number) => new AcmeProblem(`it is ${type}`, `urn:ietf:params:acme:error:${type}`, retryAfterMs);
  expect(await failed(new Error('the first'))).toEqual(['the first', 1, 5.5 * MINUTE]);
  expect(await failed(new Error('the second'))).toEqual(['the second', 2, 11 * MINUTE]);
  expect(await failed(new Error('many'), 8)).toEqual(['many', 9, 256 * 5.5 * MINUTE]);
  expect(await failed(new Error('many'), 9)).toEqual(['many', 10, DAY]);
  expect(await failed(acme('x', DAY), 0)).toEqual(['it is x', 1, DAY]);
  expect(await failed(acme('x', 8 * DAY), 0)).toEqual(['it is x', 1, 7 * DAY]);
  expect([authority.forgotten, book.orders.pausedUntil]).toEqual([0, 0]);
  await failed(acme('rateLimited', 0), 0);
  expect(book.orders.pausedUntil).toBe(now + 5 * MINUTE);
  await failed(acme('rateLimited', 30 * MINUTE), 0);
  expect(book.orders.pausedUntil).toBe(now + 30 * MINUTE);
  await failed(acme('rateLimited', DAY), 0);
  expect([authority.forgotten, book.orders.pausedUntil]).toEqual([0, now + HOUR]);
  await failed(acme('accountDoesNotExist', 0), 0);
  expect(authority.forgotten).toBe(1);
  expect([changes.length, wanted.ordering, wanted.turn]).toEqual([20, false, 10]);
  // The error of a bug is logged whole.
  expect(log.entries.map(({ err }) => err !== undefined)).toEqual([true, true, true, true, false, false, false, false, false, false]);
});
