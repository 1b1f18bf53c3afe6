import { afterEach, expect, jest, test } from '@jest/globals';
import { AgentReports } from '../../src/engine/agent-reports.ts';
import { StandbySession } from '../../src/engine/bridge/standby-session.ts';
import { ClientChanges } from '../../src/engine/client-changes.ts';
import type { EngineOptions } from '../../src/engine/engine-options.ts';
import type { WantedClient } from '../../src/engine/face.ts';
import { NO_BYTES } from '../../src/engine/limits/meter.ts';
import type { OtherNodes } from '../../src/engine/other-nodes.ts';
import { StateBatches } from '../../src/engine/state-batches.ts';
import { troublesOf } from '../../src/engine/troubles.ts';
import { Tunnels } from '../../src/engine/tunnels/tunnels.ts';
import { applyChange, loadStored, openTunnels } from '../../src/engine/wanted-state.ts';
import type { HealthMessage } from '../../src/wire/health.ts';
import type { SharedPorts } from '../../src/wire/shared-ports.ts';
import { sessionOf } from '../support/agent-session.ts';
import { EmptySocket } from '../support/empty-socket.ts';
import { freePortRange } from '../support/free-port.ts';
import { environmentOf } from '../support/environment.ts';
import { LogRecorder } from '../support/log-recorder.ts';
import { otherNodes } from '../support/other-nodes.ts';
import { CLIENT, fresh, tunnelOf } from '../support/tunnel.ts';
import { hostOf } from '../support/vhost.ts';

const sockets: EmptySocket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** The parts of an engine that knows these clients, at the time 1000. */
async function knowing(clients: ReadonlyArray<Partial<WantedClient>>, options: Partial<EngineOptions> = {}) {
  const environment = environmentOf({ now: () => 1000, ...options });
  const tunnels = new Tunnels(environment);
  const changes = new ClientChanges(environment, tunnels);
  await changes.addAll(clients.map((wanted) => ({ wanted: { ...CLIENT, vkey: `key ${wanted.id}`, ...wanted }, stored: fresh })));
  return { environment, tunnels, changes };
}

/** Other nodes that note what they are notified of. */
function noting(heard: unknown[], reaches: number): OtherNodes {
  return otherNodes({
    reaches: (id) => id === reaches,
    allowed: (...given) => heard.push(['allowed', ...given]),
    forget: (...given) => heard.push(['forget', ...given]),
  });
}

/** The session in reserve of client 1. @param onClose takes the reason */
function standbyOf(onClose: (reason: string) => void): StandbySession {
  const socket = new EmptySocket();
  sockets.push(socket);
  const standby = new StandbySession({
    id: '2',
    key: Buffer.alloc(32),
    socket,
    log: new LogRecorder().logger,
    mux: { heartbeatMs: 60_000 },
    clientId: 1,
    onGone: () => undefined,
  });
  standby.close = onClose;
  return standby;
}

const file = { configFile: true };
const open = { configAllowed: true } as const;
test.each<
  [name: string, change: Partial<WantedClient>, ends: string[], agent?: { readonly secure?: boolean; readonly info?: object }, before?: Partial<WantedClient>]
>([
  ['nothing', {}, []],
  ['a limit', { rateLimit: 5, maxConnections: 6, flowLimit: 7, ipWhite: true }, []],
  ['another vkey', { vkey: 'another' }, ['session key-changed', 'standby key-changed']],
  ['a client that is disabled', { enabled: false }, ['session disabled', 'standby disabled']],
  ['a client that expires', { expiresAt: 1000 }, ['session expired', 'standby expired']],
  ['a client that expires later', { expiresAt: 1001 }, []],
  ['TLS from now on', { crypt: true }, ['session transport-changed']],
  ['TLS from now on, with an agent that uses it', { crypt: true }, [], { secure: true }],
  ['no TLS any more', { crypt: false }, ['session transport-changed'], { secure: true }, { crypt: true }],
  ['what it had, with an agent that uses TLS by itself', { crypt: false }, [], { secure: true }],
  ['no configuration file any more', { configAllowed: false }, ['session config-refused'], { info: file }, open],
  ['no configuration file any more, with an agent that has none', { configAllowed: false }, [], {}, open],
  ['compression', { compress: true }, ['compress true']],
  ['no compression', { compress: false }, ['compress false'], {}, { compress: true }],
])('%s: what happens to the session of its agent, and to the one in reserve', async (_, change, ends, { secure = false, info = {} } = {}, before = {}) => {
  const { environment, changes } = await knowing([{ id: 1, ...before }]);
  const entry = environment.clients.get(1);
  if (!entry) throw new Error('it was added');
  const seen: string[] = [];
  entry.session = sessionOf('192.0.2.1', '1', secure, info);
  entry.session.close = (reason) => seen.push(`session ${reason}`);
  let compresses = before.compress ?? false;
  entry.session.compress = (on) => {
    if (on !== compresses) seen.push(`compress ${on}`);
    compresses = on;
  };
  entry.standby = standbyOf((reason) => seen.push(`standby ${reason}`));
  await changes.apply({ ...CLIENT, vkey: 'key 1', ...before, id: 1, ...change });
  expect(seen).toEqual(ends);
  expect(environment.clients.get(1)).toBe(entry);
  changes.stop();
});

test.each([
  [true, false, ['transport-changed']],
  [true, true, []],
  [false, false, []],
  [false, true, []],
])('crypt becomes %j: what happens to the session, over TLS: %j, that its agent has left, and whose connections go on', async (crypt, secure, ends) => {
  const { environment, changes } = await knowing([{ id: 1, crypt: !crypt }]);
  const entry = environment.clients.get(1);
  if (!entry) throw new Error('it was added');
  const seen: string[] = [];
  entry.session = sessionOf('192.0.2.1', '1', secure);
  entry.session.close = (reason) => seen.push(reason);
  entry.letGo(900);
  await changes.apply({ ...CLIENT, vkey: 'key 1', id: 1, crypt });
  expect(seen).toEqual(ends);
  changes.stop();
});

test('a client is removed with its tunnels and hosts, its agent learns why, and other nodes forget it', async () => {
  const { environment, tunnels, changes } = await knowing([{ id: 1 }, { id: 2 }]);
  const heard: unknown[] = [];
  environment.nodes = noting(heard, 0);
  for (const [id, clientId] of [[3, 1], [4, 2], [5, 1]] as const) {
    tunnels.add(tunnelOf({ id, clientId, enabled: false }), NO_BYTES);
    environment.hosts.set(hostOf({ id, clientId, host: `${id}.test` }));
  }
  const [former, session] = ['former', 'current'].map((name) => {
    const made = sessionOf('192.0.2.1', '1', false);
    made.close = (reason) => heard.push([name, reason]);
    return made;
  });
  const entry = environment.clients.get(1);
  if (!entry) throw new Error('it was added');
  entry.session = former;
  entry.letGo(900);
  entry.session = session;
  entry.standby = standbyOf((reason) => heard.push(['in reserve', reason]));
  await changes.remove(1);
  await changes.remove(9);
  expect(heard).toEqual([['current', 'deleted'], ['former', 'deleted'], ['in reserve', 'deleted'], ['forget', 1]]);
  expect([Array.from(tunnels.all(), ({ id }) => id), Array.from(environment.hosts.all(), ({ id }) => id)]).toEqual([[4], [4]]);
  expect(Array.from(environment.clients.all(), ({ wanted: { id } }) => id)).toEqual([2]);
});

test('why a client, or a host of it, is not served', async () => {
  const { environment } = await knowing([{ id: 1 }, { id: 2, enabled: false }, { id: 3, expiresAt: 1000 }, { id: 4, expiresAt: 1001 }]);
  const all = () => [1, 2, 3, 4, 9].map((id) => environment.blocked(id));
  expect(all()).toEqual(['', 'the client is disabled', 'the client has expired', '', 'its client does not exist']);
  const hosts = (localProxy: boolean) => [1, 2].map((clientId) => environment.unserved({ clientId, localProxy }));
  expect(hosts(false)).toEqual(['the agent is not connected', 'the client is disabled']);
  expect(hosts(true)).toEqual([expect.stringMatching(/do not allow that/), 'the client is disabled']);
  environment.nodes = noting([], 4);
  expect([1, 4, 9].map((id) => environment.online(id))).toEqual([false, true, false]);
  expect(environment.unserved({ clientId: 4, localProxy: false })).toBe('');
  const first = environment.clients.get(1);
  if (first) first.session = sessionOf('192.0.2.1', '1', false);
  expect([environment.online(1), ...hosts(false)]).toEqual([true, '', 'the client is disabled']);
  environment.starting = true;
  expect(all()).toEqual(Array.from({ length: 5 }, () => 'the server is starting'));
  environment.closing = true;
  expect(all()).toEqual(Array.from({ length: 5 }, () => 'the server is shutting down'));
  const dialing = await knowing([{ id: 1 }], { allowLocalProxy: true });
  expect(dialing.environment.unserved({ clientId: 1, localProxy: true })).toBe('');
});

test('changes are applied one after another, a failed one does not hold the next; nobody is notified of records that are being loaded', async () => {
  const { logger, entries } = new LogRecorder();
  const { environment } = await knowing([], { log: logger });
  const done: string[] = [];
  const turn = (name: string) => async () => {
    done.push(`${name} begins`);
    await new Promise(setImmediate);
    done.push(`${name} ends`);
    if (name === 'b') throw new Error('it failed');
    return name;
  };
  const [a, b, c] = [environment.inOrder(turn('a')), environment.inOrder(turn('b')), environment.inOrder(turn('c'))];
  await expect(b).rejects.toThrow('it failed');
  expect([await a, await c, done]).toEqual(['a', 'c', ['a', 'b', 'c'].flatMap((name) => [`${name} begins`, `${name} ends`])]);
  environment.inBackground(async () => void await turn('b')());
  await environment.inOrder(async () => undefined);
  expect(entries).toEqual([expect.objectContaining({ level: 50, msg: 'the engine failed to apply a change' })]);

  const events: unknown[] = [];
  const unwatch = environment.watch((event) => events.push(event));
  environment.changed('tunnel', 1);
  environment.loading = true;
  environment.changed('host', 2);
  environment.loading = false;
  unwatch();
  environment.changed('client', 3);
  expect(events).toEqual([{ kind: 'tunnel', id: 1 }]);
  const { client, tunnel, host } = environment.ticker.takeChanged();
  expect([client, tunnel, host].map((ids) => [...ids])).toEqual([[3], [1], [2]]);
});

test('visitors of a client that is not there, or that has just expired, are refused; a password that was right at this node counts at all', async () => {
  const limits = { ipWhite: true, ipWhitePassword: 'word' };
  const { environment } = await knowing([{ id: 1, ...limits }, { id: 2, ...limits, expiresAt: 1000 }]);
  const heard: unknown[] = [];
  environment.nodes = noting(heard, 0);
  environment.onExpired = async ({ wanted: { id } }) => void heard.push(['expired', id]);
  const admit = (clientId: number) => environment.admit({ clientId, localProxy: false }, '192.0.2.1');
  expect([admit(9), admit(2), admit(1)]).toEqual(['disabled', 'expired', 'whiteList']);
  environment.refused(1, 'whiteList');
  environment.refused(9, 'disabled');
  expect([1, 2].map((id) => environment.clients.get(id)?.refusals)).toEqual([{ whiteList: 1 }, {}]);
  expect(['wrong', 'word'].map((password) => environment.allowByPassword(1, '192.0.2.1', password))).toEqual([false, true]);
  expect(environment.allowByPassword(9, '192.0.2.1', 'word')).toBe(false);
  await environment.inOrder(async () => undefined);
  expect(heard).toEqual([['allowed', 1, '192.0.2.1'], ['expired', 2]]);
  expect(admit(1)).toBe('offline');
  // In whatever form the address is given.
  environment.allowByPassword(1, '2001:DB8:0::1', 'word');
  expect(environment.admit({ clientId: 1, localProxy: false }, '2001:db8::1')).toBe('offline');
});

test('processes of one machine have the common port of the bridge and a link of their own; other servers have none', () => {
  const shared: SharedPorts = {
    of: () => () => Promise.reject(new Error('no port')),
    owned: { claim: async () => true, claimNow: async () => true, release: () => undefined },
  };
  const options = { bridgeHost: '127.0.0.5', bridgePort: 81 };
  expect(environmentOf(options).bridgePlaces).toMatchObject({ host: '127.0.0.5', port: 81, among: undefined });
  expect(environmentOf({ ...options, shared }).bridgePlaces.among).toEqual({ shared, host: '127.0.0.5', port: 0 });
  expect(environmentOf({ ...options, shared, link: { host: '127.0.0.6', port: 82 } }).bridgePlaces.among).toEqual({ shared, host: '127.0.0.6', port: 82 });
  expect([environmentOf(options).starting, environmentOf({ shared }).starting]).toEqual([false, true]);
});

test("what an agent reports on targets counts for its client's records, and their own targets, here and at other nodes; none of it when the agent comes or goes", async () => {
  const { environment, tunnels } = await knowing([{ id: 1 }, { id: 2 }]);
  const heard: unknown[] = [];
  environment.nodes = {
    ...noting(heard, 0),
    health: (clientId, { of, id, targets }) => heard.push(['health', clientId, of, id, targets.map(({ target }) => target)]),
    agentConnected: (id) => heard.push(['connected', id]),
    agentDisconnected: (...given) => heard.push(['disconnected', ...given]),
  };
  const targets = ['a:1', 'b:1'];
  for (const [id, clientId] of [[5, 1], [6, 2]] as const) {
    tunnels.add(tunnelOf({ id, clientId, mode: 'secret', password: `${id}`, targets }), NO_BYTES);
    environment.hosts.set(hostOf({ id, clientId, host: `${id}.test`, targets }));
  }
  const reports = new AgentReports(environment, tunnels);
  const entry = environment.clients.get(1);
  if (!entry) throw new Error('it was added');
  const check = { type: 'tcp', intervalMs: 1, timeoutMs: 2, maxFailed: 3, path: '' } as const;
  const report = (of: HealthMessage['of'], id: number): HealthMessage => (
    { type: 'health', of, id, check, targets: ['a:1', 'c:1'].map((target) => ({ target, healthy: false, failures: 1, ageMs: 100, error: 'x' })) }
  );
  const events: unknown[] = [];
  environment.watch(({ kind, id }) => events.push(`${kind} ${id}`));
  const health = () => [5, 6].flatMap((id) => [tunnels.get(id)?.health, environment.hosts.get(id)?.health]).map((of) => of?.state(targets).targets[0]);
  const state = { target: 'a:1', healthy: false, failures: 1, since: 900, lastError: 'x' };
  for (const kind of ['tunnel', 'host'] as const) for (const id of [5, 6, 9]) reports.onHealth(entry, report(kind, id));
  expect(heard).toEqual([['health', 1, 'tunnel', 5, ['a:1']], ['health', 1, 'host', 5, ['a:1']]]);
  expect([health(), events]).toEqual([[state, state, undefined, undefined], ['tunnel 5', 'host 5']]);

  heard.length = events.length = 0;
  entry.session = sessionOf('192.0.2.1', '1', false);
  reports.onSeen(entry);
  expect([health(), events, heard]).toEqual([[undefined, undefined, undefined, undefined], ['client 1', 'tunnel 5', 'host 5'], [['connected', 1]]]);
  for (const ended of [true, false]) {
    entry.disconnected({ end: 'lost', endText: '' }, 1000, ended);
    reports.onSeen(entry);
  }
  expect(heard.slice(1)).toEqual([['disconnected', 1, true], ['disconnected', 1, false]]);
  heard.length = 0;
  // Another node has received a report.
  reports.useHealth(entry, report('tunnel', 5));
  expect([health()[0], heard]).toEqual([state, []]);
});

test('another server has changed the ACME certificate of a name, or of any: that name, or all, are looked up', async () => {
  const acme = { directory: 'https://ca.test/directory', email: '', dir: '/nowhere', write: () => undefined };
  const { environment, tunnels, changes } = await knowing([], { acme });
  const followed: unknown[] = [];
  if (environment.acme) environment.acme.follow = async (name) => void followed.push(name);
  const all = { environment, tunnels, clients: changes, batches: new StateBatches(environment, tunnels) };
  for (const name of ['a.test', null]) await applyChange(all, { kind: 'acme', name });
  expect(followed).toEqual(['a.test', undefined]);
});

test('connected clients are stored as online every ten minutes', async () => {
  const { environment, tunnels } = await knowing([{ id: 1 }, { id: 2 }]);
  const second = environment.clients.get(2);
  if (second) second.connected(sessionOf('192.0.2.1', '1', false), 1000);
  jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  try {
    const batches = new StateBatches(environment, tunnels);
    batches.start();
    jest.advanceTimersByTime(599_999);
    expect((await batches.take()).clients).toEqual([]);
    jest.advanceTimersByTime(1);
    expect((await batches.take()).clients).toMatchObject([{ id: 2, connected: true, lastOnlineAt: 1000 }]);
    jest.advanceTimersByTime(600_000);
    expect((await batches.take()).clients).toHaveLength(1);
    batches.stop();
    jest.advanceTimersByTime(600_000);
    expect((await batches.take()).clients).toEqual([]);
  } finally {
    jest.useRealTimers();
  }
});

test('a client is cut off when it expires, and within a minute if the clock was changed; nothing is, once the engine stops', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] });
  try {
    let clock = 1000;
    const { environment, tunnels, changes } = await knowing([], { now: () => clock });
    const batches = new StateBatches(environment, tunnels);
    const clients = [10_000_000, 10_005_000, 20_000_000].map((expiresAt, index) => ({
      wanted: { ...CLIENT, id: index + 1, vkey: `${index}`, expiresAt },
      stored: fresh,
    }));
    await loadStored({ environment, tunnels, clients: changes, batches }, {
      clients: [clients],
      tunnels: [],
      hosts: [],
      blackIpList: ['192.0.2.9'],
      serverName: 'adit.test',
    });
    expect([environment.hosts.serverName, environment.admit({ clientId: 1, localProxy: false }, '192.0.2.9')]).toEqual(['adit.test', 'globalBlackList']);
    const after = async (ms: number) => {
      jest.advanceTimersByTime(ms);
      await environment.inOrder(async () => undefined);
      return [1, 2, 3].map((id) => environment.clients.get(id)?.suspended);
    };
    clock = 10_000_000;
    expect(await after(59_999)).toEqual([false, false, false]);
    expect(await after(1)).toEqual([true, false, false]);
    expect(await after(4999)).toEqual([true, false, false]);
    clock = 10_005_000;
    expect(await after(1)).toEqual([true, true, false]);
    changes.stop();
    batches.stop();
    clock = 20_000_000;
    expect(await after(120_000)).toEqual([true, true, false]);
  } finally {
    jest.useRealTimers();
  }
});

test('tunnels are opened after the ports of the hosts if other processes listen on the same ports, otherwise with the stored state', async () => {
  const asked: string[] = [];
  const shared: SharedPorts = {
    of: (purpose) => () => {
      asked.push(purpose);
      return Promise.reject(new Error('no port'));
    },
    owned: { claim: async () => true, claimNow: async () => true, release: () => undefined },
  };
  for (const options of [{ shared }, {}]) {
    const { environment, tunnels, changes } = await knowing([{ id: 1 }], options);
    const parts = { environment, tunnels, clients: changes, batches: new StateBatches(environment, tunnels) };
    const wanted = tunnelOf({ id: 5, clientId: 1, mode: 'tcp', serverIp: '127.0.0.1', port: await freePortRange(1) });
    await loadStored(parts, { clients: [], tunnels: [[{ wanted, stored: fresh }]], hosts: [], blackIpList: [], serverName: '' });
    expect([tunnels.get(5)?.running, asked]).toEqual('shared' in options ? [false, []] : [true, ['tunnel']]);
    await openTunnels(parts);
    expect(asked).toEqual(['tunnel']);
    changes.stop();
    parts.batches.stop();
    await tunnels.close();
  }
});

test('a node that does not know what others have counted stores nothing, until it stops', async () => {
  const { environment, tunnels } = await knowing([{ id: 1 }]);
  const waited: number[] = [];
  const upToDate = async (ms: number) => waited.push(ms) === 0;
  environment.nodes = otherNodes({ upToDate, counts: () => true });
  environment.changed('client', 1);
  const batches = new StateBatches(environment, tunnels);
  const nothing = { clients: [], tunnels: [], hosts: [] };
  expect(await batches.take()).toEqual(nothing);
  environment.closing = true;
  expect((await batches.take()).clients).toMatchObject([{ id: 1 }]);
  expect(waited).toEqual([3000]);
});

test('what has no target that passes its checks is a trouble, if it is started and has targets', async () => {
  const { environment, tunnels } = await knowing([{ id: 7 }, { id: 8 }]);
  const check = { type: 'tcp', intervalMs: 1, timeoutMs: 2, maxFailed: 3, path: '' } as const;
  const targets = ['a:1', 'b:1'];
  const add = (id: number, clientId: number, unhealthy: number, more: { readonly enabled?: boolean; readonly targets?: string[] } = {}) => {
    const report = (of: HealthMessage['of']): HealthMessage => (
      { type: 'health', of, id, check, targets: targets.slice(0, unhealthy).map((target) => ({ target, healthy: false, failures: 1, ageMs: 0, error: 'x' })) }
    );
    if (id < 10) tunnels.add(tunnelOf({ id, clientId, mode: 'secret', password: `${id}`, targets, ...more }), NO_BYTES).onHealth(report('tunnel'), 0);
    else {
      environment.hosts.set(hostOf({ id, clientId, host: `${id}.test`, targets, ...more }));
      environment.hosts.onHealth(report('host'), 0);
    }
  };
  for (const from of [0, 10]) {
    add(from + 1, 7, 2);
    add(from + 2, 8, 2);
    add(from + 3, 7, 1);
    add(from + 4, 7, 2, { enabled: false });
    add(from + 5, 7, 0, { targets: [] });
  }
  tunnels.add(tunnelOf({ id: 6, clientId: 7, mode: 'secret', password: 'unchecked', targets: [] }), NO_BYTES);
  const { certificates, unhealthyTunnels, unhealthyHosts } = await troublesOf({ tunnels, hosts: environment.hosts, now: 0 });
  expect(certificates).toEqual([]);
  expect(unhealthyTunnels).toEqual([{ id: 1, clientId: 7 }, { id: 2, clientId: 8 }]);
  expect(unhealthyHosts).toEqual([{ id: 11, clientId: 7 }, { id: 12, clientId: 8 }]);
});
