import { afterEach, expect, test } from '@jest/globals';
import { DIAL_TIMEOUTS, SHORT_TIMEOUTS } from '../../src/agent/dial-bridge.ts';
import { KeptConnection, type KeepOptions, type KeptSession } from '../../src/agent/keep-connected.ts';
import type { SessionEnd } from '../../src/agent/server-session.ts';
import { parseServerList } from '../../src/rules/server-list.ts';
import { HandshakeError, type Refusal } from '../../src/wire/handshake-error.ts';
import { LogRecorder } from '../support/log-recorder.ts';

/** A session of the test's making, which writes down what is asked of it. */
class FakeSession implements KeptSession {
  readonly name: string;
  readonly asked: string[] = [];
  readonly ended: Promise<SessionEnd>;
  end: (code: string, text: string) => void = () => undefined;

  constructor(name: string) {
    this.name = name;
    this.ended = new Promise((resolve) => {
      this.end = (code, text) => resolve({ code, text });
    });
  }

  async close(ms: number): Promise<void> {
    this.asked.push(`close ${ms}`);
    this.end('stopped', 'closed');
  }

  async leave(): Promise<void> {
    this.asked.push('leave');
  }
}

type Attempt = Parameters<KeepOptions<FakeSession>['open']>[0];
type Outcome = Error | 'session';

const running: Array<KeptConnection<FakeSession>> = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((kept) => kept.stop()));
});

const refusal = (more: Partial<Refusal> = {}) => new HandshakeError('refused', 'refused', { refusal: { code: 'unknown-key', text: 'no such key', ...more } });

/** A connection that is kept with servers that answer as `outcome` says. @param random the jitter */
function keep(servers: string, outcome: (attempt: Attempt, count: number) => Outcome | Promise<Outcome>, random = 0, overTls = false) {
  const log = new LogRecorder();
  const attempts: Attempt[] = [];
  const times: number[] = [];
  const sessions: FakeSession[] = [];
  const waiting: Array<() => void> = [];
  const kept = new KeptConnection<FakeSession>({
    servers: parseServerList(servers) ?? [],
    overTls,
    log: log.logger,
    random: () => random,
    open: async (attempt) => {
      attempts.push(attempt);
      times.push(performance.now());
      const result = await outcome(attempt, attempts.length);
      if (result instanceof Error) throw result;
      const session = new FakeSession(attempt.server.host);
      sessions.push(session);
      setImmediate(() => waiting.splice(0).forEach((wake) => wake()));
      return session;
    },
    whoIs: ({ name }) => `somebody at ${name}`,
  });
  running.push(kept);
  const ran = kept.run();
  /** The nth session. */
  const session = async (count: number): Promise<FakeSession> => {
    while (sessions.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
    const found = sessions[count - 1];
    if (!found) throw new Error('no session');
    return found;
  };
  const disconnected = async () => (await log.line(/trying again/))['state'];
  /** The states of so many losses and failures. */
  const failures = async (count: number): Promise<unknown[]> => {
    const found = () => log.entries.filter(({ msg }) => msg.includes('trying again'));
    while (found().length < count) await log.next(/trying again/);
    return found().map(({ state }) => state);
  };
  return { kept, log, attempts, times, session, disconnected, failures, ran };
}

const [A, B, C] = ['192.0.2.1', '192.0.2.2', '192.0.2.3'];

test('a session has its state, and its loss the reason and the wait; the next one dials its data connections later', async () => {
  const from = Date.now();
  const { kept, log, attempts, times, session, disconnected } = keep(`${A}:1`, () => 'session', 0.5);
  expect([kept.state, kept.current]).toEqual([{ connected: false, since: expect.any(Number), text: 'connecting' }, undefined]);
  const first = await session(1);
  const entry = await log.line(/connected to/);
  expect([entry['state'], entry.msg]).toEqual([
    { event: 'connected', server: `${A}:1`, as: `somebody at ${A}` },
    `connected to ${A}:1 as somebody at ${A}`,
  ]);
  expect(kept.state).toEqual({ connected: true, since: expect.any(Number), text: entry.msg });
  expect(kept.state.since).toBeGreaterThanOrEqual(from);
  expect(kept.current).toBe(first);
  first.end('', 'gone');
  // The first wait is at most 500 ms.
  expect(await disconnected()).toEqual({ event: 'disconnected', server: `${A}:1`, reason: `connection to ${A}:1 lost: gone`, retryMs: 250 });
  expect([kept.state, kept.current]).toEqual([{ connected: false, since: expect.any(Number), text: `connection to ${A}:1 lost: gone` }, undefined]);
  const second = await session(2);
  // A timer may be early by a fraction of a millisecond.
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(245);
  expect(attempts.map(({ server, timeouts, dataAfterMs }) => [server, timeouts, dataAfterMs])).toEqual([
    [{ host: A, port: 1 }, DIAL_TIMEOUTS, 0],
    [{ host: A, port: 1 }, DIAL_TIMEOUTS, 5000],
  ]);
  // The first one is over.
  await kept.stop();
  expect([first.asked, second.asked]).toEqual([[], ['close 5000']]);
});

const gone = new Error('gone');
test.each<readonly [what: string, outcome: (port: number) => Outcome, waits: readonly number[]]>([
  ['its servers cannot be reached', () => gone, [5, 10, 20, 40, 40]],
  ['all of them refuse', () => refusal(), [5, 10, 20, 40, 80]],
  ['one of them refuses', (port) => port === 1 ? refusal({ code: 'busy' }) : gone, [5, 10, 20, 40, 80]],
])('while %s, it waits longer and longer', async (_what, outcome, waits) => {
  const { failures } = keep(`${A}:1,${B}:2`, ({ server }) => outcome(server.port), 0.01);
  expect(await failures(5)).toMatchObject(waits.map((retryMs) => ({ retryMs })));
});

test('after a session that was soon lost it waits up to 2 s, however long it had waited before', async () => {
  const { session, failures } = keep(`${A}:1`, (_, count) => count > 4 ? 'session' : gone, 0.01);
  (await session(1)).end('', 'over');
  expect(await failures(5)).toMatchObject([5, 10, 20, 40, 20].map((retryMs) => ({ retryMs })));
});

test('a session that another agent has taken over is not soon opened again', async () => {
  const { session, disconnected } = keep(`${A}:1`, () => 'session', 0.5);
  (await session(1)).end('replaced', 'another agent');
  expect(await disconnected()).toMatchObject({ retryMs: 15_000 });
});

test.each([['', 50], ['shutdown', 50], ['starting', 50], ['crowded', 50], ['busy', 50], ['disabled', 250]])(
  'after a session with one of several servers that ended with the code %j it waits up to %i ms',
  async (code, retryMs) => {
    const { session, disconnected } = keep(`${A}:1,${B}:2`, () => 'session', 0.5);
    (await session(1)).end(code, 'over');
    expect(await disconnected()).toMatchObject({ server: `${A}:1`, retryMs });
  },
);

test('after a session with one of several servers another one comes first', async () => {
  const { attempts, session } = keep(`${A}:1,${B}:2`, () => 'session');
  (await session(1)).end('', 'over');
  await session(2);
  expect(attempts.map(({ server }) => server.host)).toEqual([A, B]);
});

test.each([[false, 2], [true, 22]])('over TLS: %s, one that the first server has reported is dialed at port %i', async (overTls, port) => {
  const { attempts, session } = keep(
    `${A}:1`,
    (attempt) => {
      attempt.onServers({ servers: [{ host: B, port: 2, tlsPort: 22 }], here: false });
      return 'session';
    },
    0,
    overTls,
  );
  (await session(1)).end('', 'over');
  await session(2);
  expect(attempts[1]?.server).toEqual({ host: B, port });
});

test('servers that cannot be reached, or refuse for a reason of their own, are passed over', async () => {
  const outcomes: Outcome[] = [new Error('no route'), ...['shutdown', 'starting', 'crowded', 'busy'].map((code) => refusal({ code })), 'session'];
  const { attempts, session } = keep(`${A}:1,${A}:2,${A}:3,${A}:4,${A}:5,${B}:6`, (_, count) => outcomes[count - 1] ?? 'session');
  expect((await session(1)).name).toBe(B);
  expect(attempts.map(({ server, timeouts }) => [server.port, timeouts])).toEqual([1, 2, 3, 4, 5, 6].map((port) => [port, SHORT_TIMEOUTS]));
});

test('a refusal that all servers would give ends the round; the wait grows to that of refusals', async () => {
  const { attempts, disconnected, kept } = keep(`${A}:1,${B}:2`, () => refusal(), 0.5);
  expect(await disconnected()).toEqual({ event: 'disconnected', server: `${A}:1`, reason: `refused by ${A}:1: no such key`, retryMs: 250 });
  expect(attempts.length).toBe(1);
  expect(kept.state.text).toBe(`refused by ${A}:1: no such key`);
});

test.each<readonly [asked: ReadonlyArray<number | undefined>, retryMs: number]>([
  [[7000], 7000],
  [[100], 100],
  [[60_001], 60_000],
  [[8000, 9000, 7000], 9000],
  [[undefined, 8000], 8000],
  [[undefined], 250],
])('when servers ask for waits of %j ms it waits %i ms', async (asked, retryMs) => {
  const { disconnected } = keep(asked.map((_, at) => `${A}:${at + 1}`).join(','), (_, count) => {
    const retryAfterMs = asked[count - 1];
    return refusal({ code: 'busy', ...(retryAfterMs !== undefined && { retryAfterMs }) });
  }, 0.5);
  expect(await disconnected()).toMatchObject({ retryMs });
});

test('the reasons of the first four servers are in the log, and the number of the others', async () => {
  const servers = Array.from({ length: 6 }, (_, at) => `${A}:${at + 1}`);
  const { disconnected } = keep(servers.join(','), ({ server }) => new Error(`fault ${server.port}`));
  expect(await disconnected()).toEqual({
    event: 'disconnected',
    server: `${A}:6`,
    reason: `${[1, 2, 3, 4].map((port) => `cannot connect to ${A}:${port}: fault ${port}`).join('; ')}; and so with 2 others`,
    retryMs: 0,
  });
  const four = keep(servers.slice(0, 4).join(','), () => new Error('x'));
  expect(await four.disconnected()).toMatchObject({ reason: expect.not.stringContaining('others') });
});

test.each([
  ['shutdown', true, 50],
  ['starting', true, 50],
  ['busy', true, 250],
  ['shutdown', false, 500],
  ['', true, 250],
])('after a refusal with the code %j, others at its address: %j, it waits up to %i ms', async (code, here, retryMs) => {
  const { session, log } = keep(`${A}:1`, (attempt, count) => {
    if (count > 1) return code === '' ? new Error('gone') : refusal({ code });
    attempt.onServers({ servers: [], here });
    return 'session';
  }, 0.5);
  (await session(1)).end('', 'over');
  expect((await log.line(/cannot connect|refused by/))['state']).toMatchObject({ retryMs });
});

test('a server that will end is left for another one, while the session goes on until then', async () => {
  const { kept, log, attempts, times, session } = keep(`${A}:1`, (attempt, count) => {
    if (count === 1) attempt.onServers({ servers: [{ host: B, port: 2, tlsPort: 22 }, { host: C, port: 3, tlsPort: 33 }], here: false });
    return 'session';
  }, 0.1);
  const first = await session(1);
  await log.line(/connected to/);
  attempts[0]?.onDrain();
  const second = await session(2);
  // The agents of the server move within a second.
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(95);
  await log.line(new RegExp(`connected to ${second.name}`));
  expect(log.entries.map(({ msg }) => msg)).toEqual([
    `connected to ${A}:1 as somebody at ${A}`,
    `${A}:1 is being drained; the session goes on until another server takes it over`,
    `connected to ${second.name}:${second.name === B ? 2 : 3} as somebody at ${second.name}`,
  ]);
  expect([first.asked, second.asked, kept.current === second]).toEqual([['leave'], [], true]);
  // The end of the one that was left changes nothing.
  first.end('', 'over');
  await first.ended;
  expect([kept.current === second, kept.state.connected]).toEqual([true, true]);
});

test('while no other server can be reached, the session with one that will end goes on', async () => {
  const states: unknown[] = [];
  const { kept, log, attempts, session, ran } = keep(`${A}:1,${B}:2`, (_, count) => {
    if (count > 1) states.push(kept.state);
    return count === 1 || count > 5 ? 'session' : gone;
  });
  const first = await session(1);
  await log.line(/connected to/);
  attempts[0]?.onDrain();
  await session(2);
  expect(states).toEqual(Array(5).fill(expect.objectContaining({ connected: true, text: `connected to ${A}:1 as somebody at ${A}` })));
  expect([first.asked, log.entries.filter(({ msg }) => msg.includes('trying again'))]).toEqual([['leave'], []]);
  expect(log.entries.filter(({ msg }) => msg.includes('goes on until')).length).toBe(3);
  await kept.stop();
  await ran;
});

test('a session that is lost while other servers refuse to take it over is opened again as after any loss', async () => {
  let refusals = 8;
  const { log, attempts, session, ran, kept } = keep(`${A}:1,${B}:2`, (_, count) => count > 1 && refusals-- > 0 ? refusal() : 'session', 0.001);
  const first = await session(1);
  await log.line(/connected to/);
  attempts[0]?.onDrain();
  // The last of the waits is 30 ms.
  while (attempts.length < 9) await log.next(/goes on until/);
  refusals = 0;
  first.end('', 'gone');
  expect((await session(2)).name).toBe(B);
  expect(log.entries.filter(({ msg }) => msg.includes('trying again')).map(({ state }) => state)).toEqual([
    { event: 'disconnected', server: `${A}:1`, reason: `connection to ${A}:1 lost: gone`, retryMs: 0 },
  ]);
  await kept.stop();
  await ran;
});

test('after a session that was lost while another server was asked to take it over, earlier refusals do not make the wait longer', async () => {
  let answer: (outcome: Outcome) => void = () => undefined;
  const { log, attempts, session, disconnected } = keep(`${A}:1,${B}:2`, (_, count) => {
    if (count === 1) return 'session';
    return count < 8 ? refusal() : new Promise((resolve) => (answer = resolve));
  }, 0.002);
  const first = await session(1);
  await log.line(/connected to/);
  attempts[0]?.onDrain();
  while (attempts.length < 8) await new Promise(setImmediate);
  first.end('', 'gone');
  await first.ended;
  answer(refusal());
  expect(await disconnected()).toMatchObject({ reason: expect.stringMatching(/^refused by/), retryMs: 4 });
});

test('when it is stopped while it dials one server, it dials no other', async () => {
  let fail: (outcome: Outcome) => void = () => undefined;
  const { kept, attempts, ran } = keep(`${A}:1,${B}:2`, () => new Promise((resolve) => (fail = resolve)));
  while (attempts.length === 0) await new Promise(setImmediate);
  await kept.stop();
  fail(gone);
  await ran;
  expect(attempts.length).toBe(1);
});

test('a server that is alone and will end is not left', async () => {
  const { log, attempts, session } = keep(`${A}:1`, () => 'session');
  const first = await session(1);
  attempts[0]?.onDrain();
  first.end('shutdown', 'over');
  await log.line(/lost: over/);
  expect(log.entries.map(({ msg }) => msg).filter((msg) => msg.includes('drained'))).toEqual([]);
});

test('when it is stopped, all sessions get five seconds, and one that is being opened ends at once', async () => {
  let opened: (outcome: Outcome) => void = () => undefined;
  const { kept, attempts, session, log } = keep(
    `${A}:1,${B}:2`,
    (_, count) => count < 3 ? 'session' : new Promise((resolve) => (opened = resolve)),
  );
  const first = await session(1);
  await log.line(/connected to/);
  attempts[0]?.onDrain();
  const second = await session(2);
  await log.line(new RegExp(`connected to ${B}`));
  attempts[1]?.onDrain();
  await log.line(new RegExp(`${B}:2 is being drained`));
  while (attempts.length < 3) await new Promise(setImmediate);
  await kept.stop();
  expect([first.asked, second.asked]).toEqual([['leave', 'close 5000'], ['close 5000']]);
  opened('session');
  const third = await session(3);
  await third.ended;
  expect(third.asked).toEqual(['close 0']);
  expect(attempts.length).toBe(3);
});
