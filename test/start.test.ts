import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { expect, jest, test } from '@jest/globals';
import * as z from 'zod';
import { Departure } from '../src/departure.ts';
import { engineSettings } from '../src/engine-settings.ts';
import { addressOf, close, listen } from '../src/http/listening.ts';
import { GENERATE_CERTIFICATE, ownCommand, ownProgram } from '../src/own-program.ts';
import { openPorts } from '../src/open-ports.ts';
import { openProcessApi } from '../src/open-process-api.ts';
import { openRedirect } from '../src/open-redirect.ts';
import { processLine, readyMessage } from '../src/ready-message.ts';
import { newProgram, runProgram } from '../src/program.ts';
import { retentionOf } from '../src/retention.ts';
import { notifyServiceManager } from '../src/service-manager.ts';
import { runServer } from '../src/server.ts';
import { UnappliedChanges } from '../src/schema/writes/unapplied-changes.ts';
import { loadSettings, readSettings } from '../src/settings/load.ts';
import { SettingsError } from '../src/settings/settings-error.ts';
import { startError } from '../src/start-error.ts';
import { stopSignal } from '../src/stop-signal.ts';
import { CommitFollower } from '../src/store/commit-follower.ts';
import { StoreError } from '../src/store/errors.ts';
import { Nodes } from '../src/store/nodes.ts';
import { StateSaver } from '../src/store/state-saver.ts';
import { keyIdOf, proveHandshake } from '../src/wire/handshake.ts';
import { netBackend } from '../src/wire/net-socket.ts';
import type { SharedPorts } from '../src/wire/shared-ports.ts';
import { covering } from './support/certificates.ts';
import { eventually } from './support/eventually.ts';
import { LogRecorder } from './support/log-recorder.ts';
import { authKey, metrics, write } from './support/processes.ts';
import { graphql } from './support/several-servers.ts';
import { refusal } from './support/target.ts';
import { temporaryDirectory } from './support/temporary-directory.ts';

const directory = temporaryDirectory();
const settingsOf = (environment: Readonly<Record<string, string>>) => readSettings({ environment: { ADIT_DATA_DIR: directory, ...environment } }).settings;

test('a port that cannot be opened is named with the settings that may be meant, an address alone with all of its own', async () => {
  const settings = settingsOf({ ADIT_BRIDGE_HOST: '::1', ADIT_BRIDGE_PORT: '81', ADIT_BRIDGE_TLS_PORT: '81', ADIT_LINK_PORT: '82' });
  const place = { host: 'bridgeHost', ports: ['bridgePort', 'bridgeTlsPort', 'linkPort'] } as const;
  const problem = async (error: object) => {
    try {
      return await openPorts(settings, place, async () => {
        throw Object.assign(new Error('it failed'), error);
      });
    } catch (problem) {
      return String(problem);
    }
  };
  expect(await problem({ syscall: 'listen', code: 'EADDRINUSE', port: 81 })).toMatch(
    /^PortError: can't listen on \[::1\]:81 \(--bridge-host, --bridge-port, --bridge-tls-port\): /,
  );
  expect(await problem({ syscall: 'listen', code: 'EADDRNOTAVAIL' })).toMatch(
    /^PortError: can't listen on \[::1\] \(--bridge-host, --bridge-port, --bridge-tls-port, --link-port\): /,
  );
  expect(await problem({})).toBe('Error: it failed');
  expect(await openPorts(settings, place, async () => 'open')).toBe('open');
});

test('the port of the redirect leads to the port of the API, holds addresses to their share, and is shared for no other purpose', async () => {
  const api = await listen(http.createServer(), { host: '127.0.0.1', port: 0 }, () => undefined);
  api.unref();
  const settings = settingsOf({ ADIT_HTTP_HOST: '127.0.0.1', ADIT_HTTP_REDIRECT_PORT: '0' });
  const purposes: string[] = [];
  const of = (purpose: string) => {
    purposes.push(purpose);
    return () => Promise.reject(new Error('for others'));
  };
  const open = (of?: SharedPorts['of']) => openRedirect(settings, { total: 2, perAddress: 1 }, api, new LogRecorder().logger, of && { of, owned: {} as never });
  await expect(open(of)).rejects.toThrow('for others');
  expect(purposes).toEqual(['redirect']);
  const redirect = await open();
  const port = redirect ? addressOf(redirect.unref()).port : 0;
  const connect = async () => {
    const socket = net.connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return socket;
  };
  const first = await connect();
  await once(await connect(), 'close');
  first.write('GET /x HTTP/1.1\r\nHost: panel.test\r\n\r\n');
  expect(await text(first)).toContain(`Location: https://panel.test:${addressOf(api).port}/x\r\n`);
  for (const server of [redirect, api]) if (server) await close(server);
  expect(await openRedirect(settingsOf({}), { total: 1, perAddress: 1 }, api, new LogRecorder().logger, undefined)).toBeUndefined();
});

test('each process has a port of its own for the API, one above that of the process before it, unless there is none or any will do', async () => {
  const log = new LogRecorder();
  const api = http.createServer((_, response) => response.end('the API'));
  const open = (port: string, number: number) =>
    openProcessApi(settingsOf({ ADIT_HTTP_HOST: '127.0.0.1', ADIT_PROCESS_HTTP_PORT: port }), number, api, log.logger);
  expect(await open('', 1)).toBeUndefined();
  const server = await open('0', 3);
  const { port: taken } = z.object({ port: z.number() }).parse(server?.unref().address());
  const [response]: http.IncomingMessage[] = await once(http.get({ host: '127.0.0.1', port: taken, agent: false }), 'response');
  expect(response && await text(response)).toBe('the API');
  await expect(open(String(taken - 2), 3)).rejects.toThrow(`can't listen on 127.0.0.1:${taken} (`);
  server?.close();
});

test('a start that ends since the database has gone names the database; other errors stay as they are', () => {
  const url = 'postgresql://user:secret@db.test:5433/adit';
  const gone = Object.assign(new Error('terminating connection'), { code: '57P01' });
  const named = startError(gone, url);
  expect(named).toBeInstanceOf(StoreError);
  expect(String(named)).toContain('db.test:5433');
  expect(String(named)).not.toContain('secret');
  const system = Object.assign(new Error('no port'), { code: 'ECONNREFUSED', syscall: 'connect' });
  for (const other of [new Error('a bug'), system, new StoreError('known'), 'thrown']) expect(startError(other, url)).toBe(other);
  expect(startError(gone, '')).toBe(gone);
});

test.each(['SIGTERM', 'SIGINT'] as const)('%s stops a program, and ends it at once if it comes again', async (signal) => {
  const before = process.listeners(signal);
  const own = () => process.listeners(signal).filter((listener) => !before.includes(listener));
  const exit = jest.spyOn(process, 'exit').mockImplementation(() => {
    throw new Error('it has ended');
  });
  const log = new LogRecorder();
  const signals = ['SIGTERM', 'SIGINT'] as const;
  const others = signals.map((each) => process.listeners(each));
  try {
    const stopped = stopSignal(log.logger);
    const [listener] = own();
    expect(listener).toBeDefined();
    listener?.(signal);
    await stopped;
    expect(exit).not.toHaveBeenCalled();
    expect(() => listener?.(signal)).toThrow('it has ended');
    expect([exit.mock.calls, log.entries.map(({ msg }) => msg)]).toEqual([[[1]], ['stopped at once']]);
  } finally {
    for (const [at, each] of signals.entries()) for (const added of process.listeners(each)) if (!others[at]?.includes(added)) process.off(each, added);
    exit.mockRestore();
  }
});

test('settings of seconds are milliseconds to the engine, and each is its own', () => {
  const given = { TUNNEL_HOST: '192.0.2.1', BRIDGE_HOST: '192.0.2.2', BRIDGE_PORT: '81', P2P_PORT: '82', ALLOW_PORTS: '90-99', ALLOW_LOCAL_PROXY: 'true' };
  const times = { UDP_IDLE: '11', HALF_CLOSED: '12', DIAL_TIMEOUT: '13', VHOST_HEAD: '14', VHOST_IDLE: '15', VHOST_RESPONSE: '16' };
  const environment = [...Object.entries(given), ...Object.entries(times).map(([name, value]) => [`${name}_SECONDS`, value])];
  const more = { ADIT_VHOST_MAX_HEAD_BYTES: '20000', ADIT_VHOST_MAX_HEADERS: '50', ADIT_TRUSTED_PROXIES: '192.0.2.3', ADIT_PUBLIC_URL: 'https://adit.test' };
  expect(engineSettings(settingsOf({ ...Object.fromEntries(environment.map(([name, value]) => [`ADIT_${name}`, value])), ...more }))).toEqual({
    ...{ tunnelHost: '192.0.2.1', bridgeHost: '192.0.2.2', bridgePort: 81, p2pPort: 82, allowPorts: [{ from: 90, to: 99 }], allowLocalProxy: true },
    ...{ udpIdleMs: 11_000, halfClosedMs: 12_000, proxyTiming: { dialMs: 13_000 }, vhostTiming: { headMs: 14_000, idleMs: 15_000, responseMs: 16_000 } },
    ...{ vhostHead: { bytes: 20_000, fields: 50 }, trustedProxies: ['192.0.2.3'], publicUrl: 'https://adit.test' },
  });
});

test('an error that a user can fix is printed without a stack: 2 for arguments and settings, 1 for the others; another one is a bug', async () => {
  const written: string[] = [];
  const write = jest.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(String(text)) > 0);
  const { argv, exitCode } = process;
  try {
    const ended = async (error: unknown, ...words: readonly string[]) => {
      process.argv = [...argv.slice(0, 2), ...words];
      process.exitCode = undefined;
      const program = newProgram();
      program.command('run').action(() => {
        throw error;
      });
      await runProgram(program);
      return [process.exitCode, ...written.splice(0)];
    };
    const named = (name: string) => Object.assign(new Error('it is so'), { name });
    expect(await ended(new SettingsError(['one', 'two']), 'run')).toEqual([2, 'adit: one\n', 'adit: two\n']);
    expect(await ended(named('ConfigError'), 'run')).toEqual([1, 'it is so\n']);
    for (const name of ['StoreError', 'PortError', 'NodesError', 'ServiceError', 'ThroughServerError', 'ConversionError']) {
      expect([name, ...await ended(named(name), 'run')]).toEqual([name, 1, 'adit: it is so\n']);
    }
    expect(await ended(Object.assign(new Error('no file'), { syscall: 'open' }), 'run')).toEqual([1, 'adit: no file\n']);
    expect(await ended(undefined, 'walk')).toEqual([2, expect.stringContaining('unknown command')]);
    await expect(ended(named('TypeError'), 'run')).rejects.toThrow('it is so');
    const out = jest.spyOn(process.stdout, 'write').mockImplementation(() => true);
    expect(await ended(undefined, '--version')).toEqual([0]);
    out.mockRestore();
  } finally {
    [process.argv, process.exitCode] = [argv, exitCode];
    write.mockRestore();
  }
});

test('history is kept as long as the settings say, each kind of its own', () => {
  const days = { AUDIT: '1', TRAFFIC_MINUTE: '2', TRAFFIC_HOUR: '3', TRAFFIC_DAY: '4' };
  const environment = Object.fromEntries(Object.entries(days).map(([name, value]) => [`ADIT_${name}_DAYS`, value]));
  expect(retentionOf(settingsOf(environment))).toEqual({ audit: 1, traffic: { minute: 2, hour: 3, day: 4 } });
});

test('systemd is notified that the program is ready, works, and stops, if it waits for that', async () => {
  const calls = path.join(directory, 'calls');
  const program = path.join(directory, 'systemd-notify');
  writeFileSync(program, `#!/bin/sh\necho "$*" >>${calls}\n`);
  chmodSync(program, 0o755);
  const said = () => existsSync(calls) ? readFileSync(calls, 'utf8').split('\n').slice(0, -1) : [];
  const log = new LogRecorder();
  const { PATH } = process.env;
  jest.useFakeTimers({ doNotFake: ['setTimeout', 'setImmediate', 'nextTick'] });
  try {
    process.env['PATH'] = `${directory}:${PATH}`;
    notifyServiceManager({}, log.logger)();
    const stopping = notifyServiceManager({ NOTIFY_SOCKET: '/run/notify', WATCHDOG_USEC: '30000000' }, log.logger);
    await eventually(said, (lines) => lines.length === 1);
    jest.advanceTimersByTime(9_999);
    jest.advanceTimersByTime(1);
    await eventually(said, (lines) => lines.length === 2);
    stopping();
    jest.advanceTimersByTime(60_000);
    await eventually(said, (lines) => lines.length === 3);
    expect(said()).toEqual([`--ready MAINPID=${process.pid}`, 'WATCHDOG=1', 'STOPPING=1']);
    notifyServiceManager({ NOTIFY_SOCKET: '/run/notify' }, log.logger);
    jest.advanceTimersByTime(60_000);
    await eventually(said, (lines) => lines.length === 4);
    expect(log.entries).toEqual([]);
    writeFileSync(program, '#!/bin/sh\nexit 1\n');
    notifyServiceManager({ NOTIFY_SOCKET: '/run/notify' }, log.logger);
    expect(await log.line(/systemd could not be notified/)).toMatchObject({ level: 40 });
  } finally {
    jest.useRealTimers();
    process.env['PATH'] = PATH;
  }
});

test('the ready message says where everything is reached, what was generated, and what to run next', () => {
  const bridge = { host: '::', port: 81, linkPort: 0, tls: { port: 82, fingerprint: 'ab12' } };
  const message = (given: Partial<Parameters<typeof readyMessage>[0]>, environment: Readonly<Record<string, string>> = {}) =>
    readyMessage({
      settings: settingsOf({ ADIT_AUTH_KEY: 'own key', ADIT_VHOST_HOST: '::1', ADIT_BASE_PATH: '/adit', ...environment }),
      generated: {},
      bridge,
      hosts: { httpPort: 83, httpsPort: 84 },
      http: { address: '192.0.2.1', port: 85 },
      tls: undefined,
      ...given,
    }).replaceAll(/[0-9a-f]{24}/g, 'KEY').split('\n');
  const plain = message({});
  expect(plain.slice(2, 8)).toEqual([
    '  API      http://192.0.2.1:85/adit/',
    '  GraphQL  http://192.0.2.1:85/adit/graphql',
    '  Bridge   [::]:81, over TLS :82 (agents connect here)',
    '           TLS certificate SHA-256 ab12',
    '  Hosts    HTTP [::1]:83, HTTPS :84 (visitors of domains connect here)',
    '',
  ]);
  expect(plain[9]).toBe('  AUTH_KEY=...the auth key you set...');
  expect(plain.find((line) => line.includes(' agent '))).toMatch(/ agent --server 127\.0\.0\.1:82 --tls-fingerprint ab12 --vkey KEY &$/);
  expect(plain.filter((line) => line.includes('vkey=KEY'))).toEqual([expect.stringContaining(' http://192.0.2.1:85/adit/client/add/ ')]);
  expect(plain.join()).not.toContain('pinnedpubkey');
  const pinned = message({ tls: { pin: 'sha256//x' }, http: { address: '::', port: 85 } });
  expect(pinned.slice(2, 5)).toEqual([
    '  API      https://127.0.0.1:85/adit/',
    '  GraphQL  https://127.0.0.1:85/adit/graphql',
    "           self-signed certificate: curl --insecure --pinnedpubkey 'sha256//x'",
  ]);
  expect(pinned.filter((line) => line.includes("curl -k --pinnedpubkey 'sha256//x' -s"))).toHaveLength(2);
  const [shown] = [message({ tls: { pin: '' }, generated: { authKey: 'a', authCryptKey: 'c', adminPassword: 'p' } })];
  expect(shown.slice(8, 14)).toEqual([
    `Generated at this first start. They are shown only now, and stored in ${path.join(directory, 'secrets.json')}:`,
    '  auth key        a',
    '  auth crypt key  c',
    '  admin password  p (login name admin)',
    '',
    'Next, in another terminal:',
  ]);
  expect(shown[14]).toBe('  AUTH_KEY=a');
  writeFileSync(path.join(directory, 'secrets.json'), JSON.stringify({ authKey: 'kept' }));
  expect(message({}, { ADIT_AUTH_KEY: 'kept' })[9]).toContain('secrets.json)');
  expect(message({})[9]).toBe('  AUTH_KEY=...the auth key you set...');
  expect(message({}, { ADIT_AUTH_KEY: '' }).at(-2)).toBe('Signed API calls are off: no auth key is set.');
  expect(processLine('one', 2, 4, 85)).toBe('Node one is ready: process 2 of 4, reached by other nodes on port 85');
});

test('child processes run the same program with the same flags of Node, except those that only one process can have', () => {
  const { execArgv, argv } = process;
  try {
    process.execArgv = ['--inspect=9229', '--cpu-prof', '--liftoff-only', '--heap-prof', '--prof'];
    process.argv = [process.execPath, '/opt/adit/main.js', 'server'];
    expect(ownCommand(GENERATE_CERTIFICATE)).toEqual([process.execPath, '--liftoff-only', '/opt/adit/main.js', 'generate-certificate']);
    expect(ownProgram()).toEqual([process.execPath, '/opt/adit/main.js']);
  } finally {
    Object.assign(process, { execArgv, argv });
  }
});

test('a server listens on the addresses of its settings, stores no counters from before a reset of traffic, and has logs and metrics of its own', async () => {
  const [cert, key] = [path.join(directory, 'bridge.crt'), path.join(directory, 'bridge.key')];
  writeFileSync(cert, covering.certificate);
  writeFileSync(key, covering.key);
  const ports = ['HTTP', 'BRIDGE', 'BRIDGE_TLS', 'VHOST_HTTP', 'VHOST_HTTPS', 'P2P'].map((name) => [`ADIT_${name}_PORT`, '0']);
  const hosts = ['HTTP', 'BRIDGE', 'VHOST'].map((name, index) => [`ADIT_${name}_HOST`, `127.0.0.${index + 1}`]);
  const files = { ADIT_BRIDGE_TLS_CERT: cert, ADIT_BRIDGE_TLS_KEY: key };
  const environment: Record<string, string> = {
    ...Object.fromEntries([...ports, ...hosts]),
    ...files,
    ADIT_DATA_DIR: path.join(directory, 'server'),
    ADIT_AUTH_KEY: authKey,
    ADIT_SOCKETS: 'net',
    ADIT_LOG_LEVEL: 'bridge:info,error',
  };
  const reset = jest.spyOn(StateSaver.prototype, 'trafficReset');
  const printed = new Array<string>();
  const out = jest.spyOn(process.stdout, 'write').mockImplementation((text) => printed.push(String(text)) > 0);
  const logged = new Array<string>();
  const err = jest.spyOn(process.stderr, 'write').mockImplementation((text) => logged.push(String(text)) > 0);
  const before = (['SIGTERM', 'SIGINT'] as const).map((signal) => [signal, process.listeners(signal)] as const);
  const ran = runServer(readSettings({ environment }).settings, () => loadSettings({ environment }));
  try {
    const places = /API +http:\/\/([\d.]+):(\d+)[^]*Bridge +([\d.]+):(\d+), over TLS :(\d+)[^]*Hosts +HTTP ([\d.]+):(\d+), HTTPS :(\d+)/;
    const [, http, port, bridge, plain, tls, vhost, web, secure] = await eventually(() => places.exec(printed.join('')) ?? [], ({ length }) => length > 0);
    expect([http, bridge, vhost]).toEqual(['127.0.0.1', '127.0.0.2', '127.0.0.3']);
    for (const [host, own] of [[http, port], [bridge, plain], [bridge, tls], [vhost, web], [vhost, secure]]) expect(await refusal(Number(own), host)).toBe('');
    const server = { httpPort: Number(port) };
    const key = 'the key of the agent';
    const id = await write(server, '/client/add/', { vkey: key });
    const socket = await netBackend.connect({ host: '127.0.0.2', port: Number(plain), timeoutMs: 60_000 });
    await proveHandshake(socket, { timeoutMs: 60_000, role: 'mux', keyId: keyIdOf(key), key, connection: 0, info: {} });
    await eventually(() => logged.join(''), (lines) => lines.includes('bridge: agent connected'));
    socket.destroy(true);
    await graphql(server, `mutation { resetClientTraffic(id: "${id}") { id } }`);
    expect(reset.mock.calls).toEqual([['client', id]]);
    const figures: ReadonlyArray<readonly [object, string, unknown]> = [
      [CommitFollower.prototype, 'figures', { seq: 7, lagMs: 2500 }],
      [Departure.prototype, 'draining', true],
      [UnappliedChanges.prototype, 'size', 3],
      [Nodes.prototype, 'own', { load: 0.25 }],
    ];
    const before = figures.map(([of, name]) => Object.getOwnPropertyDescriptor(of, name) ?? {});
    for (const [of, name, value] of figures) Object.defineProperty(of, name, { configurable: true, get: () => value });
    const text = await metrics(server).finally(() => {
      for (const [at, [of, name]] of figures.entries()) Object.defineProperty(of, name, before[at] ?? {});
    });
    const seen = Object.fromEntries(text.split('\n').filter((line) => /^adit_(change|draining|load|unapplied)/.test(line)).map((line) => line.split(' ')));
    expect(seen).toEqual({
      ...{ adit_change_log_position: '7', adit_change_log_lag_seconds: '2.5', adit_draining: '1', adit_load: '0.25', adit_unapplied_changes: '3' },
    });
  } finally {
    // Only the server's own: the process has other suites.
    for (const [signal, listeners] of before) {
      for (const listener of process.listeners(signal).filter((each) => !listeners.includes(each))) {
        process.off(signal, listener);
        if (signal === 'SIGTERM') listener(signal);
      }
    }
    await ran;
    for (const spy of [reset, out, err]) spy.mockRestore();
  }
});
