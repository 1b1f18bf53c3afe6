import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { afterEach, expect, jest, test } from '@jest/globals';
import { Agent } from '../../src/agent/agent.ts';
import { WatchedFiles } from '../../src/agent/config/watch-files.ts';
import { ConfiguredAgent } from '../../src/agent/configured-agent.ts';
import { configuredSnapshot } from '../../src/agent/status/snapshot.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import { eventually } from '../support/eventually.ts';
import { LogRecorder } from '../support/log-recorder.ts';
import { occupyPort } from '../support/target.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { CLIENT, fresh, openTunnel, startEngine } from '../support/tunnel.ts';

const directory = temporaryDirectory();
const file = path.join(directory, 'agent.toml');
const started: ConfiguredAgent[] = [];
afterEach(async () => {
  for (const agent of started.splice(0)) await agent.stop();
});
const given = { servers: undefined, tls: undefined, vkey: undefined, allowFiles: [] };

test("the server receives the health of a declared tunnel's targets, by the id of its record, and of entries that are added to the file", async () => {
  const server = await startEngine({ stored: { clients: [{ ...CLIENT, configAllowed: true, ...fresh }] } });
  const { id } = await openTunnel(server, { targets: ['127.0.0.1:1'] });
  let answer = { id, port: 0, error: '' };
  const names: string[] = [];
  const declare = async ({ name }: { readonly name: string }) => {
    names.push(name);
    return answer;
  };
  server.engine.keepDeclared({ open: () => ({ declare, withdraw: async () => ({ ...answer, error: '' }), close: () => undefined }) });
  const head = `server = "${server.bridge.host}:${server.bridge.port}"\nvkey = "${CLIENT.vkey}"\n`;
  const tunnel = (name: string, interval = 1, target = 1): string =>
    `[tunnels.${name}]\ntype = "tcp"\ntargets = ["127.0.0.1:${target}"]\nhealth = { interval = ${interval}, timeout = 1, max_failed = 1 }\n`;
  const targets = Array.from({ length: 11 }, (_, index) => String(80 + index));
  writeFileSync(file, head + tunnel('web'));
  const log = new LogRecorder();
  const agent = new ConfiguredAgent({ file, given, log: log.logger, version: '0.0.1', sockets: netBackend });
  started.push(agent);
  expect(await agent.start()).toEqual([]);
  await eventually(() => server.engine.tunnelState(id)?.health?.targets, (targets) => targets?.[0]?.healthy === false);
  writeFileSync(file, `${head + tunnel('web') + tunnel('later')}[hosts.web]\nhost = "a.example"\ntargets = ${JSON.stringify(targets)}\n`);
  await log.line(/a\.example/);
  expect(names.toSorted()).toEqual(['later', 'web', 'web']);
  // Another tunnel of the client, which the server can't serve.
  await openTunnel(server, { mode: 'secret' });
  const { entries, ...snapshot } = await configuredSnapshot({ pid: 1, version: '1.2', config: file }, agent);
  const at = `${server.bridge.host}:${server.bridge.port}`;
  expect(snapshot).toEqual({
    pid: 1,
    version: '1.2',
    config: file,
    problems: [],
    session: { server: at, connected: true, since: expect.any(Number), text: `connected to ${at} as client ${CLIENT.id}` },
    visitors: [],
  });
  expect(entries?.map(({ kind, name }) => `${kind} ${name}`)).toEqual(['tunnel web', 'tunnel ', 'tunnel later', 'host web']);
  expect(entries?.filter(({ kind }) => kind === 'host')).toEqual([{
    kind: 'host',
    name: 'web',
    id: 0,
    type: 'all',
    host: 'a.example',
    port: 0,
    targets: targets.slice(0, 10),
    running: false,
    error: 'the server has not taken it yet',
    connections: 0,
    visitors: { relay: 0, direct: 0 },
    health: null,
  }]);
  expect(entries?.filter(({ type }) => type === 'secret')).toMatchObject([{ error: expect.stringContaining('it has no password') }]);
  writeFileSync(file, `${head}[tunnels.web]\ntype = "other"\n`);
  await log.line(/the last valid version stays active/);
  expect(agent.problems).not.toEqual([]);
  expect(agent.plan?.entries.map(({ name }) => name)).toEqual(['web', 'later', 'web']);
  // Other checks of an entry that is declared already.
  writeFileSync(file, head + tunnel('web', 2));
  await eventually(() => server.engine.tunnelState(id)?.health?.intervalMs, (ms) => ms === 2000);
  expect(names.length).toBe(3);
  answer = { id, port: 0, error: 'not now' };
  writeFileSync(file, head + tunnel('web', 2, 2));
  await log.line(/the server refuses it: not now/);
  expect((await configuredSnapshot({ pid: 1, version: '1.2', config: file }, agent)).entries).toContainEqual(
    expect.objectContaining({ kind: 'tunnel', name: 'web', id, error: 'not now' }),
  );
  // Nothing is reported of an entry without a record.
  answer = { id: 0, port: 0, error: 'never' };
  writeFileSync(file, head + tunnel('web', 2, 3));
  await log.line(/the server refuses it: never/);
  const sent = jest.spyOn(Agent.prototype, 'send');
  const read = log.next(/1 tunnels and hosts/);
  writeFileSync(file, head + tunnel('web', 3, 3));
  await read;
  expect(sent.mock.calls.filter(([message]) => 'id' in message && message.id === 0)).toEqual([]);
  sent.mockRestore();
});

test('agent and visitors of a file with a fingerprint connect over TLS; a visitor whose port is taken shows that', async () => {
  const server = await startEngine({ stored: { clients: [{ ...CLIENT, configAllowed: true, ...fresh }] } });
  const none = async () => ({ id: 0, port: 0, error: '' });
  server.engine.keepDeclared({ open: () => ({ declare: none, withdraw: none, close: () => undefined }) });
  await openTunnel(server, { mode: 'secret', password: 'a password of many words', targets: ['127.0.0.1:1'] });
  const { port, fingerprint } = server.bridge.tls;
  writeFileSync(
    file,
    `server = "${server.bridge.host}:${port}"\nvkey = "${CLIENT.vkey}"\ntls_fingerprint = "${fingerprint}"\n`
      + '[visitors.v]\ntype = "secret"\npassword = "a password of many words"\nlisten = 0\n'
      + `[visitors.w]\ntype = "secret"\npassword = "another"\nlisten = ${(await occupyPort()).port}\n`,
  );
  const log = new LogRecorder();
  const agent = new ConfiguredAgent({ file, given, log: log.logger, version: '0.0.1', sockets: netBackend });
  started.push(agent);
  expect(await agent.start()).toEqual([]);
  await Promise.all([log.line(/ as client 1 over TLS$/), log.line(/ as visitor of tunnel \d+ over TLS$/), log.line(/^the local port cannot be opened/)]);
  const { visitors } = await configuredSnapshot({ pid: 1, version: '1.2', config: file }, agent);
  expect(visitors).toMatchObject([{ name: 'v', error: '' }, { name: 'w', listen: '', error: expect.stringMatching(/./) }]);
});

/** How many files are watched. */
const watched = (): number => process.getActiveResourcesInfo().filter((name) => name === 'StatWatcher').length;

test('a save changes what is another in the file, and nothing else, and says what; without a valid file it does not start', async () => {
  const [stop, allow] = [jest.spyOn(Agent.prototype, 'stop'), jest.spyOn(Agent.prototype, 'allowFiles')];
  const log = new LogRecorder();
  const configured = new ConfiguredAgent({ file, given, log: log.logger, version: '0.0.1', sockets: netBackend });
  started.push(configured);
  const before = watched();
  writeFileSync(file, 'server = 1');
  expect(await configured.start()).toEqual([expect.stringContaining('agent.toml:1: server: must be')]);
  expect(watched()).toBe(before);

  const head = (port: number, vkey = 'k', more = ''): string => `server = "127.0.0.1:${port}"\nvkey = "${vkey}"\n${more}`;
  const visitor = (name: string, password = 'p'): string => `[visitors.${name}]\ntype = "secret"\npassword = "${password}"\nlisten = 0\n`;
  const states = (event: string) => log.entries.map(({ state }) => state).filter((state) => JSON.stringify(state ?? {}).includes(`"event":"${event}"`));
  writeFileSync(file, head(1, 'k', 'allow_files = ["/a"]\n') + visitor('v') + visitor('w'));
  expect(await configured.start()).toEqual([]);
  expect(watched()).toBe(before + 1);
  const running = configured.agent?.agent;
  const visitors = new Map(configured.visitors);
  const [v, w] = await eventually(() => ['v', 'w'].map((name) => visitors.get(name)?.running.address ?? ''), (addresses) => addresses.every(Boolean));
  const snapshot = await configuredSnapshot({ pid: 1, version: '1.2', config: file }, configured);
  const unreached = { server: '127.0.0.1:1', connected: false, since: expect.any(Number), text: expect.any(String) };
  const shown = { ...unreached, type: 'secret', error: '', path: null };
  expect(snapshot).toMatchObject({ session: unreached, entries: null, visitors: [{ ...shown, name: 'v', listen: v }, { ...shown, name: 'w', listen: w }] });

  const save = async (text: string): Promise<void> => {
    const read = log.next(/tunnels and hosts, \d+ visitors$/);
    writeFileSync(file, text);
    expect((await read)['state']).toEqual({ event: 'config', file, problems: [] });
  };
  const refused = async (address = ''): Promise<void> => {
    const [error] = await once(net.connect(Number(address.split(':')[1]), '127.0.0.1'), 'error');
    expect(error).toMatchObject({ code: 'ECONNREFUSED' });
  };
  await save(head(1, 'k', 'allow_files = ["b"]\n') + visitor('v'));
  expect([configured.agent?.agent, configured.visitors.get('v')]).toEqual([running, visitors.get('v')]);
  expect([allow.mock.calls, stop.mock.calls.length]).toEqual([[[[path.join(directory, 'b')]]], 0]);
  expect([states('stopped'), states('restarted')]).toEqual([[{ event: 'stopped' }], []]);
  const named = (text: string) => log.entries.filter(({ msg }) => msg.startsWith(text)).map((entry) => entry['visitor']);
  expect([new Set(named('listening on')), named('stopped')]).toEqual([new Set(['v', 'w']), ['w']]);
  await refused(w);

  await save(head(1, 'k', 'allow_files = ["b"]\n') + visitor('v', 'another'));
  expect([configured.agent?.agent === running, states('restarted')]).toEqual([true, [{ event: 'restarted', reason: 'visitor' }]]);
  await refused(v);
  await save(head(2) + visitor('v', 'another'));
  await save(head(2, 'l', 'tls = true\n') + visitor('v', 'another'));
  const restarted = (reason: string) => ({ event: 'restarted', reason });
  expect(states('restarted')).toEqual(['visitor', 'server', 'visitor', 'vkey, tls', 'visitor'].map(restarted));
  expect(stop).toHaveBeenCalledTimes(2);

  // A file that cannot be used is looked at until it can.
  const unreadable = log.next(/the last valid version stays active: .*vkey_file: ENOENT/);
  const looked = jest.spyOn(WatchedFiles.prototype, 'set');
  writeFileSync(file, 'server = "127.0.0.1:2"\nvkey_file = "none"\n');
  await unreadable;
  expect(looked.mock.lastCall).toEqual([[file, path.join(directory, 'none')]]);
  looked.mockRestore();
  const invalid = log.next(/the last valid version stays active/);
  writeFileSync(file, 'server = 1');
  expect((await invalid)['state']).toEqual({ event: 'config', file, problems: [expect.stringContaining('agent.toml:1: server: must be')] });
  expect(configured.problems).not.toEqual([]);
  expect((await configuredSnapshot({ pid: 1, version: '1.2', config: file }, configured)).problems).toEqual(configured.problems);
  const right = log.entries.length;
  const reads = jest.spyOn(WatchedFiles.prototype, 'set');
  writeFileSync(file, 'server = 1\n');
  await eventually(() => reads.mock.calls.length, (count) => count > 0);
  reads.mockRestore();
  await save(head(2, 'l', 'tls = true\n') + visitor('v', 'another'));
  expect([configured.problems, log.entries.slice(right).filter(({ level, state }) => level === 40 && JSON.stringify(state).includes('"config"'))]).toEqual([
    [],
    [],
  ]);
  expect(stop).toHaveBeenCalledTimes(2);

  await save(`server = "127.0.0.1:2"\n${visitor('v', 'another')}`);
  expect([configured.agent, states('stopped').length, stop.mock.calls.length]).toEqual([undefined, 2, 3]);
  const last = await eventually(() => configured.visitors.get('v')?.running.address, (address) => address !== undefined && address !== '');
  const ran = configured.run();
  await configured.stop();
  await ran;
  expect(watched()).toBe(before);
  await refused(last);
  stop.mockRestore();
  allow.mockRestore();
});
