import { expect, jest, test } from '@jest/globals';
import pino from 'pino';
import { Acme } from '../../../src/engine/acme/acme.ts';
import { Clients } from '../../../src/engine/client-index.ts';
import { ClientEntry } from '../../../src/engine/clients.ts';
import type { WantedHost } from '../../../src/engine/face.ts';
import { HEAD_LIMITS } from '../../../src/engine/http/head.ts';
import { ClientUsage } from '../../../src/engine/limits/client-usage.ts';
import { NO_BYTES, Ticker } from '../../../src/engine/limits/meter.ts';
import { visitorLists } from '../../../src/engine/limits/visitor-lists.ts';
import { Visitors } from '../../../src/engine/limits/visitors.ts';
import { Certificates } from '../../../src/engine/vhost/tls/certificates.ts';
import { HostPolicy } from '../../../src/engine/vhost/host-policy.ts';
import { Hosts } from '../../../src/engine/vhost/hosts.ts';
import type { HealthMessage } from '../../../src/wire/health.ts';
import { decodeOpen } from '../../../src/wire/open.ts';
import { START_CREDIT, type StreamHooks } from '../../../src/wire/stream.ts';
import { covering, other } from '../../support/certificates.ts';
import { EmptySocket } from '../../support/empty-socket.ts';
import { environmentOf } from '../../support/environment.ts';
import { otherNodes } from '../../support/other-nodes.ts';
import { CLIENT, fresh, startEngine, tunnelOf } from '../../support/tunnel.ts';
import { hostOf } from '../../support/vhost.ts';

/** Hosts without a server. */
async function hostsOf({ publicUrl = '', acme }: { publicUrl?: string; acme?: Acme } = {}) {
  const ticker = new Ticker();
  const clients = new Clients();
  for (const id of [1, 2]) {
    const wanted = { ...CLIENT, id, vkey: `key ${id}` };
    clients.add(new ClientEntry(wanted, await visitorLists(wanted), { ticker, onExhausted: () => undefined }, NO_BYTES));
  }
  const certificates = new Certificates(pino({ level: 'silent' }), Date.now, acme);
  const changed: number[] = [];
  const hosts = new Hosts(clients, ticker, new Visitors(), certificates, 1234, (id) => changed.push(id), publicUrl);
  return { hosts, certificates, changed, ticker };
}

const NAME = 'panel.example.org';
const byUser = { host: NAME, namedByAdmin: false };

test.each<[string, Partial<WantedHost>, (hosts: Hosts, host: WantedHost) => void, boolean]>([
  ['has other settings', {}, (hosts, host) => hosts.set({ ...host, location: '/other' }), false],
  ['is stopped', {}, (hosts, host) => hosts.set({ ...host, enabled: false }), true],
  ['belongs to another client', {}, (hosts, host) => hosts.set({ ...host, clientId: 2 }), true],
  ['is removed', {}, (hosts, { id }) => hosts.remove(id), true],
  ['goes with its client', {}, (hosts) => hosts.removeOf(1), true],
  ['stays when another client goes', {}, (hosts) => hosts.removeOf(2), false],
  ['stays when another one is removed', {}, (hosts, { id }) => hosts.remove(id + 1), false],
  ["has a user's name that becomes the server's own", byUser, (hosts) => (hosts.serverName = NAME), true],
  ["has an administrator's name that becomes the server's own", { host: NAME }, (hosts) => (hosts.serverName = NAME), false],
  ["has another name than the server's new one", byUser, (hosts) => (hosts.serverName = 'other.example.org'), false],
  ['has a name that is no longer one of its own', { ...byUser, host: 'old.example.org' }, (hosts) => (hosts.serverName = ''), false],
])('a host that %s: its open connections are cut or not', async (_, settings, change, cut) => {
  const { hosts, ticker } = await hostsOf();
  hosts.serverName = 'old.example.org';
  const host = hostOf({ clientId: 1, ...settings });
  hosts.set(host);
  let resets = 0;
  const stream = { join: () => undefined, reset: () => resets++, over: false };
  const client = new ClientUsage(ticker, CLIENT, NO_BYTES, () => undefined);
  hosts.get(host.id)?.connections.carry(new EmptySocket(), { open: () => stream }, client, Buffer.alloc(0));
  change(hosts, host);
  expect(resets).toBe(cut ? 1 : 0);
});

test("the server's own names are those of its settings and its addresses; hosts that have one show it while they are started, unless an administrator named them", async () => {
  const { hosts } = await hostsOf({ publicUrl: 'https://api.example.org:8080' });
  expect(hosts.isOwn('api.example.org')).toBe(true);
  hosts.serverName = NAME;
  const names = ['api.example.org', NAME, 'www.example.org', '192.0.2.1', 'localhost'];
  for (const host of names) hosts.set(hostOf({ host, namedByAdmin: false }));
  for (const host of names) hosts.set(hostOf({ host, namedByAdmin: false, enabled: false, location: '/stopped' }));
  hosts.set(hostOf({ host: NAME, location: '/admin' }));
  hosts.set(hostOf({ host: '*.p.example.org', namedByAdmin: false }));
  const served = names.map((host) => hosts.match({ host, path: '/', scheme: 'http' })?.host);
  expect([served, hosts.withOwnName()]).toEqual([
    names.map((name) => (name === 'www.example.org' ? name : undefined)),
    names.filter((name) => name !== 'www.example.org'),
  ]);
  const own = () => ['api.example.org', NAME, 'www.example.org', 'x.p.example.org', 'nobody.example.org', '192.0.2.9'].map((name) => hosts.isOwn(name));
  expect(own()).toEqual([true, true, true, true, false, true]);
  for (const { id } of hosts.all()) hosts.remove(id);
  expect(own()).toEqual([true, true, false, false, false, true]);
  hosts.serverName = '';
  expect(own()).toEqual([true, false, false, false, false, true]);
});

test('a pair is looked after as long as a host has it; its changes are those of all hosts that have it', async () => {
  const { hosts, certificates, changed } = await hostsOf();
  const pair = { certificate: '/nowhere', privateKey: '/nowhere' };
  const [one, two, three] = [hostOf({ ...pair }), hostOf({ ...pair }), hostOf({ certificate: '/else', privateKey: '/else' })];
  for (const host of [one, two, three]) hosts.set(host);
  await certificates.lookAtAll();
  expect([changed, certificates.counts.certificatesRefused]).toEqual([[one.id, two.id, three.id], 2]);
  hosts.set({ ...one, certificate: '', privateKey: '' });
  expect(certificates.counts.certificatesRefused).toBe(2);
  hosts.set({ ...three, certificate: '', privateKey: '' });
  expect(certificates.counts.certificatesRefused).toBe(1);
  hosts.set({ ...two, location: '/other' });
  expect(certificates.counts.certificatesRefused).toBe(1);
  hosts.remove(two.id);
  expect(certificates.counts.certificatesRefused).toBe(0);
});

test('of the hosts of a name, TLS shows the own pair first, then that by ACME; each has it, unless it is for HTTP', async () => {
  const acme = new Acme({ directory: 'https://127.0.0.1:1/dir', email: '', dir: '/nowhere', write: () => undefined }, pino({ level: 'silent' }), Date.now);
  const { hosts } = await hostsOf({ acme });
  const host = NAME;
  const [plain, ordered, own] = [
    hostOf({ host }),
    hostOf({ host, location: '/a', acme: true }),
    hostOf({ host, location: '/b', certificate: covering.certificate, privateKey: covering.key }),
  ];
  for (
    const each of [
      plain,
      ordered,
      own,
      hostOf({ host, location: '/c', scheme: 'http', certificate: other.certificate, privateKey: other.key }),
      hostOf({ host: 'else.example.org' }),
    ]
  ) hosts.set(each);
  const shown = async () => {
    const seen: Array<readonly [number, boolean]> = [];
    for await (const { entry, certificate } of hosts.certificates()) seen.push([entry.id, certificate.status.facts !== undefined]);
    return [hosts.named(host)?.id, ...seen];
  };
  // The one without a pair of its own has the first of its name.
  expect(await shown()).toEqual([own.id, [plain.id, false], [ordered.id, false], [own.id, true]]);
  hosts.set({ ...ordered, enabled: false });
  expect(await shown()).toEqual([own.id, [plain.id, true], [ordered.id, true], [own.id, true]]);
  hosts.set(ordered);
  hosts.remove(own.id);
  expect(await shown()).toEqual([ordered.id, [plain.id, false], [ordered.id, false]]);
  const retried = jest.spyOn(acme, 'retry');
  for (const id of [plain.id, ordered.id, own.id]) expect(await hosts.retryAcme(id)).toEqual({ kind: 'notFailed' });
  expect(retried.mock.calls).toEqual([[NAME], [NAME]]);
  hosts.remove(ordered.id);
  expect(await shown()).toEqual([plain.id]);
  // That of a wildcard above it is not its own, even while only that one serves the name.
  hosts.set({ ...plain, enabled: false });
  hosts.set(hostOf({ host: host.replace(/^[^.]+/, '*'), certificate: covering.certificate, privateKey: covering.key }));
  expect(await hosts.certificate(plain.id)).toBeUndefined();
});

/** A report that a target is out of rotation. */
function outOf(id: number, target: string): HealthMessage {
  const check = { type: 'tcp', intervalMs: 1000, timeoutMs: 1000, maxFailed: 1, path: '' } as const;
  return { type: 'health', of: 'host', id, check, targets: [{ target, healthy: false, failures: 3, ageMs: 50, error: 'why' }] };
}

test("when a client's agent comes or goes, all its hosts are reported, and all targets of those that had a report are in rotation again", async () => {
  const { hosts } = await hostsOf();
  const targets = ['127.0.0.1:1', '127.0.0.1:2'];
  const [one, two, third] = [hostOf({ targets }), hostOf({ targets }), hostOf({ targets, clientId: 2 })];
  for (const host of [one, two, third]) hosts.set(host);
  for (const { id } of [two, third]) hosts.onHealth(outOf(id, '127.0.0.1:1'), 1000);
  const healthy = () =>
    [one, two, third].map(({ id }) => {
      const health = hosts.state(id, () => '')?.health;
      return health ? health.targets.filter((target) => target.healthy).length : 'unknown';
    });
  expect(healthy()).toEqual(['unknown', 1, 1]);
  expect(hosts.state(two.id, () => '')?.health?.targets[0]).toEqual({ target: '127.0.0.1:1', healthy: false, failures: 3, since: 950, lastError: 'why' });
  // A stopped one shows no reason why it could not serve.
  hosts.set({ ...one, enabled: false });
  expect([one, two].map(({ id }) => hosts.state(id, ({ clientId }) => `blocked ${clientId}`))).toMatchObject([
    { running: false, error: '' },
    { running: false, error: 'blocked 1' },
  ]);
  expect(hosts.forgetHealth(1)).toEqual([one.id, two.id]);
  expect(healthy()).toEqual(['unknown', 'unknown', 1]);
  expect([...hosts.ofClient(1)].map(({ id }) => id)).toEqual([one.id, two.id]);
});

test('what an agent is asked for names the host, and how long a dial may take; each kind of connection has its turn, also after a change', async () => {
  const { hosts } = await hostsOf();
  const host = hostOf({ id: 777, clientId: 2, targets: ['127.0.0.1:1', '127.0.0.1:2', '127.0.0.1:3'] });
  hosts.set(host);
  const asked = () => {
    const { targets, secureTargets } = hosts.get(host.id) ?? {};
    return [targets, secureTargets].map((rotation) => rotation?.next && decodeOpen(rotation.next));
  };
  const from = (first: number) => [0, 1, 2].map((turn) => `127.0.0.1:${(first + turn) % 3 + 1}`);
  const by = `host ${host.id}`;
  expect(asked()).toEqual([{ kind: 'dial', by, timeoutMs: 1234, credit: START_CREDIT, targets: from(0) }, { kind: 'tcp', by, targets: from(0) }]);
  hosts.get(host.id)?.targets.advance();
  for (let turn = 0; turn < 2; turn++) hosts.get(host.id)?.secureTargets.advance();
  hosts.set({ ...host, location: '/other' });
  expect(asked()).toMatchObject([{ targets: from(1) }, { targets: from(2) }]);
  hosts.onHealth(outOf(host.id, '127.0.0.1:1'), 0);
  const [two, three] = ['127.0.0.1:2', '127.0.0.1:3'];
  expect(asked()).toMatchObject([{ targets: [three, two] }, { targets: [two, three] }]);
});

test('a host without visitors shows the totals that are stored, as far as numbers are exact; with the first bytes it is among those that have changed', async () => {
  const { hosts, ticker } = await hostsOf();
  const host = hostOf({ id: 778 });
  hosts.set(host, { inletBytes: 2 ** 60, exportBytes: 5 });
  expect(hosts.get(host.id)?.traffic).toMatchObject({ inletBytes: Number.MAX_SAFE_INTEGER, exportBytes: 5 });
  hosts.get(host.id)?.meter.countExport(1);
  expect([...ticker.takeChanged().host]).toEqual([host.id]);
  ticker.stop();
});

test('a connection to a target begins with data, for a request with the credit that the agent knows; what waits of a response counts for its visitor', async () => {
  const environment = environmentOf({ proxyTiming: { dialMs: 7000 } });
  environment.clients.add(new ClientEntry(CLIENT, await visitorLists(CLIENT), { ticker: environment.ticker, onExhausted: () => undefined }, NO_BYTES));
  const host = hostOf({ clientId: CLIENT.id, targets: ['a:1', 'b:1'] });
  environment.hosts.set(host);
  const [opened, joined]: [unknown[], StreamHooks[]] = [[], []];
  const opener = {
    elsewhere: true,
    open: (payload: Buffer, ...given: unknown[]) => {
      opened.push([decodeOpen(payload), ...given.slice(0, 2)]);
      return { over: false, join: (_local: unknown, hooks: StreamHooks) => void joined.push(hooks), reset: () => undefined };
    },
  };
  environment.nodes = otherNodes({ openerTo: () => opener });
  const policy = new HostPolicy(environment);
  const entry = environment.hosts.get(host.id);
  if (!entry) throw new Error('there is a host');
  const visitor = { remoteAddress: '192.0.2.1', remotePort: 7 };
  const unread = { tight: false, open: () => undefined, add: () => undefined, close: () => undefined };
  for (let turn = 0; turn < 2; turn++) expect(policy.dial(entry, visitor, unread)).toMatchObject(visitor);
  expect(policy.dialSecure(entry, visitor)).toMatchObject(visitor);
  expect(opened).toMatchObject([
    [{ kind: 'dial', timeoutMs: 7000, credit: START_CREDIT, targets: ['a:1', 'b:1'] }, true, START_CREDIT],
    [{ kind: 'dial', credit: START_CREDIT, targets: ['b:1', 'a:1'] }, true, START_CREDIT],
    [{ kind: 'tcp', targets: ['a:1', 'b:1'] }, true, undefined],
  ]);
  expect(joined.map((hooks) => hooks.unread)).toEqual([unread, unread, undefined]);
});

test('the heads of requests have the limits of the settings, or those of all heads', () => {
  const vhostHead = { bytes: 1024, fields: 8 };
  expect([new HostPolicy(environmentOf({ vhostHead })).headLimits, new HostPolicy(environmentOf()).headLimits]).toEqual([vhostHead, HEAD_LIMITS]);
});

test('a report on the health of a host that is gone is ignored', async () => {
  const { hosts } = await hostsOf();
  expect(() => hosts.onHealth({ type: 'health', of: 'host', id: 1, targets: [] }, 0)).not.toThrow();
});

test('a host and a tunnel that moved to another client are no longer those of the former one, and go with the new one', async () => {
  const own = { ...CLIENT, ...fresh };
  const { engine } = await startEngine({ stored: { clients: [own, { ...own, id: 2, vkey: 'another' }] } });
  const hosts = ['one', 'two', 'three'].map((name) => hostOf({ clientId: CLIENT.id, host: `${name}.test` }));
  const tunnels = [1, 2, 3].map(() => tunnelOf({ mode: 'secret', password: `word ${Math.random()}` }));
  for (const host of hosts) await engine.apply({ kind: 'host', host });
  for (const tunnel of tunnels) await engine.apply({ kind: 'tunnel', tunnel });
  for (const host of hosts.slice(1, 2)) await engine.apply({ kind: 'host', host: { ...host, clientId: 2 } });
  for (const tunnel of tunnels.slice(1, 2)) await engine.apply({ kind: 'tunnel', tunnel: { ...tunnel, clientId: 2 } });
  const left = () => [hosts.map(({ id }) => engine.hostState(id) !== undefined), tunnels.map(({ id }) => engine.tunnelState(id) !== undefined)];
  expect(left()).toEqual([[true, true, true], [true, true, true]]);
  await engine.apply({ kind: 'clientRemoved', id: CLIENT.id });
  expect(left()).toEqual([[false, true, false], [false, true, false]]);
  await engine.apply({ kind: 'clientRemoved', id: 2 });
  expect(left()).toEqual([[false, false, false], [false, false, false]]);
});
