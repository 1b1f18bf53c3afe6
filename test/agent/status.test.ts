import { once } from 'node:events';
import { existsSync, linkSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterEach, expect, jest, test } from '@jest/globals';
import { Agent } from '../../src/agent/agent.ts';
import { agentStatus } from '../../src/agent/program.ts';
import { askAgents } from '../../src/agent/status/ask-agents.ts';
import { runtimeDirectory } from '../../src/agent/status/runtime-directory.ts';
import { agentSnapshot } from '../../src/agent/status/snapshot.ts';
import type { Snapshot } from '../../src/agent/status/snapshot-schema.ts';
import { serveStatus } from '../../src/agent/status/status-socket.ts';
import { statusText } from '../../src/agent/status/status-text.ts';
import { LogRecorder } from '../support/log-recorder.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { CLIENT, openTunnel, startEngine } from '../support/tunnel.ts';

const directory = temporaryDirectory();
const before = process.env['ADIT_RUNTIME_DIR'];
afterEach(() => {
  if (before === undefined) delete process.env['ADIT_RUNTIME_DIR'];
  else process.env['ADIT_RUNTIME_DIR'] = before;
});

test('the sockets of agents are where the environment says, or in a directory of the user', () => {
  expect(runtimeDirectory({ ADIT_RUNTIME_DIR: '/own', XDG_RUNTIME_DIR: '/run/user/1' })).toBe('/own');
  expect(runtimeDirectory({ XDG_RUNTIME_DIR: '/run/user/1' })).toBe('/run/user/1/adit');
  expect(runtimeDirectory({ ADIT_RUNTIME_DIR: '', XDG_RUNTIME_DIR: '' })).toBe(path.join(os.tmpdir(), `adit-${process.getuid?.() ?? os.userInfo().username}`));
});

test('a running agent says its state, as text or JSON, when all agents are asked, or those with its configuration file', async () => {
  process.env['ADIT_RUNTIME_DIR'] = directory;
  const snapshot: Snapshot = {
    pid: process.pid,
    version: '1.2.3',
    config: '/etc/adit/agent.toml',
    problems: [],
    session: { server: '192.0.2.1:8024', connected: true, since: 0, text: 'connected to 192.0.2.1:8024' },
    entries: [],
    visitors: [],
  };
  expect(await agentStatus(undefined, true)).toBeUndefined();
  const close = await serveStatus(directory, () => Promise.resolve(snapshot), new LogRecorder().logger);
  expect(await agentStatus(undefined, true)).toBe(`${JSON.stringify(snapshot)}\n`);
  expect(await agentStatus(snapshot.config, false)).toBe(
    `agent ${process.pid}, version 1.2.3, configuration /etc/adit/agent.toml\n  connected to 192.0.2.1:8024, since 1970-01-01T00:00:00.000Z\n`,
  );
  expect(await agentStatus('/etc/adit/other.toml', false)).toBeUndefined();
  await close();
  expect(await agentStatus(undefined, true)).toBeUndefined();
});

test('an agent without a file shows its session, with all its servers, and the tunnels of its client while it is connected', async () => {
  const server = await startEngine();
  const { id } = await openTunnel(server, {});
  const servers = [server.bridge, { host: '127.0.0.1', port: 1 }];
  const log = new LogRecorder();
  const agent = new Agent({ servers, vkey: CLIENT.vkey, log: log.logger, version: '0.0.1' });
  const shown = () => agentSnapshot({ pid: 7, version: '1', config: '' }, servers, agent);
  const always = { pid: 7, version: '1', config: '', problems: [], visitors: [] };
  const session = { server: `127.0.0.1:${server.bridge.port},127.0.0.1:1`, connected: false };
  expect(await shown()).toMatchObject({ ...always, session, entries: null });
  const ran = agent.run();
  await log.line(/^connected to/);
  expect(await shown()).toMatchObject({ ...always, session: { ...session, connected: true }, entries: [{ kind: 'tunnel', name: '', id }] });
  await agent.stop();
  await ran;
});

test('only its user can ask a running agent, sixteen at once; nothing is left of it, nor of one with its process id before', async () => {
  const own = path.join(directory, 'one');
  const place = path.join(own, `adit-agent-${process.pid}.sock`);
  mkdirSync(own, { mode: 0o700 });
  writeFileSync(place, '');
  let answer: (snapshot: Snapshot) => void = () => undefined;
  const snapshot = new Promise<Snapshot>((resolve) => {
    answer = resolve;
  });
  const close = await serveStatus(own, () => snapshot, new LogRecorder().logger);
  expect(statSync(place).mode & 0o777).toBe(0o600);
  const timeouts = jest.spyOn(net.Socket.prototype, 'setTimeout');
  const askers = Array.from({ length: 16 }, () => net.connect(place));
  await Promise.all(askers.map((asker) => once(asker, 'connect')));
  const beyond = net.connect(place).on('error', () => undefined).resume();
  await once(beyond, 'close');
  expect([...new Set(timeouts.mock.calls.map(([ms]) => ms))]).toEqual([5000]);
  timeouts.mockRestore();
  answer({ pid: 1, version: '1.2.3', config: '', problems: [], session: null, entries: null, visitors: [] });
  for (const asker of askers) expect(String((await once(asker, 'data'))[0])).toMatch(/^\{"pid":1,.*\}$/);
  await close();
  expect(existsSync(place)).toBe(false);
});

test('a connection that has no answer after five seconds is closed, and its place is free', async () => {
  const own = path.join(directory, 'slow');
  const timeouts = jest.spyOn(net.Socket.prototype, 'setTimeout').mockReturnThis();
  let accepted = (): void => undefined;
  const asked = new Promise<void>((resolve) => {
    accepted = resolve;
  });
  const never = (): Promise<Snapshot> => {
    accepted();
    return new Promise(() => undefined);
  };
  const close = await serveStatus(own, never, new LogRecorder().logger);
  const asker = net.connect(path.join(own, `adit-agent-${process.pid}.sock`)).resume();
  await asked;
  expect(timeouts.mock.calls).toEqual([[5000, expect.any(Function)]]);
  timeouts.mock.calls[0]?.[1]?.();
  await once(asker, 'close');
  timeouts.mockRestore();
  await close();
});

test('a state that cannot be had ends the connection at once and without an answer, and the log says why', async () => {
  const own = path.join(directory, 'failing');
  const timeouts = jest.spyOn(net.Socket.prototype, 'setTimeout').mockReturnThis();
  const log = new LogRecorder();
  const close = await serveStatus(own, () => Promise.reject(new Error('no state')), log.logger);
  const asker = net.connect(path.join(own, `adit-agent-${process.pid}.sock`)).resume();
  await once(asker, 'close');
  timeouts.mockRestore();
  expect([asker.bytesRead, log.entries]).toMatchObject([0, [{ level: 50, err: { message: 'no state' }, msg: 'the state could not be sent' }]]);
  await close();
});

test('an agent is not waited for longer than five seconds', async () => {
  const own = path.join(directory, 'silent');
  mkdirSync(own);
  const silent = net.createServer(() => undefined).listen(path.join(own, 'adit-agent-5.sock'));
  await once(silent, 'listening');
  const timeouts = jest.spyOn(net.Socket.prototype, 'setTimeout').mockImplementation(function(this: net.Socket, _ms, onTimeout) {
    if (onTimeout) setImmediate(onTimeout);
    return this;
  });
  await expect(askAgents(own)).rejects.toThrow('adit-agent-5.sock does not answer');
  expect(timeouts.mock.calls.map(([ms]) => ms)).toEqual([5000]);
  timeouts.mockRestore();
  silent.close();
});

test('answers of several agents are in the order of their processes, whole however they arrive; the socket of a killed one is removed', async () => {
  const place = path.join(directory, 'several');
  mkdirSync(place);
  const snapshot = (pid: number): Snapshot => ({ pid, version: '1.2.3', config: '/etc/adit/ä.toml', problems: [], session: null, entries: null, visitors: [] });
  const servers = [10, 9].map((pid) =>
    net.createServer((socket) => {
      const bytes = Buffer.from(JSON.stringify(snapshot(pid)));
      const inside = bytes.indexOf('ä') + 1;
      socket.write(bytes.subarray(0, inside), () => setImmediate(() => socket.end(bytes.subarray(inside))));
    }).listen(path.join(place, `adit-agent-${pid}.sock`))
  );
  const killed = net.createServer().listen(path.join(place, 'killed'));
  await Promise.all([...servers, killed].map((server) => once(server, 'listening')));
  linkSync(path.join(place, 'killed'), path.join(place, 'adit-agent-3.sock'));
  killed.close();
  await once(killed, 'close');
  writeFileSync(path.join(place, 'adit-agent-4.sock.old'), '');
  expect(await askAgents(place)).toEqual([snapshot(9), snapshot(10)]);
  expect(['adit-agent-3.sock', 'adit-agent-4.sock.old', 'adit-agent-9.sock'].map((name) => existsSync(path.join(place, name)))).toEqual([false, true, true]);
  expect(await askAgents(path.join(place, 'none'))).toEqual([]);
  const busy = net.createServer((socket) => socket.on('error', () => {}).end('x'.repeat(17 * 1024 * 1024))).listen(path.join(place, 'adit-agent-5.sock'));
  await once(busy, 'listening');
  await expect(askAgents(place)).rejects.toThrow('adit-agent-5.sock sent too long an answer');
  await expect(askAgents(path.join(place, 'adit-agent-4.sock.old'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  for (const server of [...servers, busy]) server.close();
});

test('each part of a state comes through, as JSON and as text', async () => {
  process.env['ADIT_RUNTIME_DIR'] = path.join(directory, 'whole');
  const tunnel: NonNullable<Snapshot['entries']>[number] = {
    kind: 'tunnel',
    name: 'ssh',
    id: 5,
    type: 'tcp',
    host: '',
    port: 9001,
    targets: ['10.0.0.1:22', '22'],
    running: true,
    error: '',
    connections: 3,
    visitors: { relay: 1, direct: 2 },
    health: { healthy: 1, targets: 2 },
  };
  const visitor = {
    server: 'h:1',
    connected: true,
    since: 1000,
    text: 'connected to h:1',
    name: 'db',
    type: 'secret',
    listen: '127.0.0.1:5432',
    error: '',
    path: 'relay',
  } as const;
  const snapshot: Snapshot = {
    pid: process.pid,
    version: '1.2.3',
    config: '/etc/a.toml',
    problems: ['a.toml:1: one', 'a.toml:2: two'],
    session: { server: 'h:1', connected: false, since: 2000, text: 'connection lost' },
    entries: [
      tunnel,
      {
        ...tunnel,
        kind: 'host',
        name: '',
        id: 0,
        type: 'https',
        host: 'a.example',
        port: 0,
        targets: [],
        running: false,
        error: 'no',
        connections: 0,
        visitors: { relay: 0, direct: 0 },
        health: null,
      },
    ],
    visitors: [visitor, { ...visitor, name: 'p', type: 'p2p', path: 'direct' }, { ...visitor, name: 'q', listen: '', error: 'taken', path: null }],
  };
  const close = await serveStatus(path.join(directory, 'whole'), () => Promise.resolve(snapshot), new LogRecorder().logger);
  expect(JSON.parse(await agentStatus(undefined, true) ?? '')).toEqual(snapshot);
  expect(await agentStatus(undefined, false)).toBe(`\
agent ${process.pid}, version 1.2.3, configuration /etc/a.toml
  connection lost, since 1970-01-01T00:00:02.000Z
  the configuration file has problems; the agent runs the previous version:
    a.toml:1: one
    a.toml:2: two

  KIND    NAME  ID  TYPE   AT         TARGETS          STATE                            CONNECTIONS
  tunnel  ssh   5   tcp    9001       10.0.0.1:22, 22  running, 1 of 2 targets healthy  3 (visitors: 1 through the server, 2 direct)
  host    -     -   https  a.example  -                stopped: no                      0

  VISITOR  TYPE    LISTENS         STATE             PATH
  db       secret  127.0.0.1:5432  connected to h:1  relay
  p        p2p     127.0.0.1:5432  connected to h:1  direct
  q        secret  -               taken             -
`);
  // What a server or a file says does nothing to a terminal.
  expect(statusText({ ...snapshot, problems: ['a\u001b[2J'] })).toContain('\n    a?[2J\n');
  await close();
});

test.each<[what: string, more: Partial<Snapshot>, text: RegExp]>([
  ['without a configuration file', { config: '' }, /^agent 7, version 1$/],
  ['that cannot ask the server', { entries: null }, /^agent 7, version 1, configuration c\n {2}tunnels and hosts: the server cannot be asked$/],
])('an agent %s says so', (_what, more, text) => {
  expect(statusText({ pid: 7, version: '1', config: 'c', problems: [], session: null, entries: [], visitors: [], ...more }).trimEnd()).toMatch(text);
});

test('an agent runs without its socket where no directory can be made, and says so in its log', async () => {
  const { logger, entries } = new LogRecorder();
  const taken = path.join(directory, 'taken');
  writeFileSync(taken, '');
  const close = await serveStatus(taken, () => Promise.reject(new Error('not asked')), logger);
  expect(entries.map(({ level, msg }) => [level, msg])).toEqual([[40, expect.stringMatching(/^adit agent --status will not find this agent: ./)]]);
  await close();
});
