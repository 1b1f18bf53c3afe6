import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { ConfiguredAgent } from '../../src/agent/configured-agent.ts';
import { configuredSnapshot } from '../../src/agent/status/snapshot.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import { eventually } from '../support/eventually.ts';
import { LogRecorder } from '../support/log-recorder.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { CLIENT, fresh, openTunnel, startEngine } from '../support/tunnel.ts';

const file = path.join(temporaryDirectory(), 'agent.toml');

test("the server receives the health of a declared tunnel's targets, by the id of its record, and of entries that are added to the file", async () => {
  const server = await startEngine({ stored: { clients: [{ ...CLIENT, configAllowed: true, ...fresh }] } });
  const { id } = await openTunnel(server, { targets: ['127.0.0.1:1'] });
  const answer = { id, port: 0, error: '' };
  const names: string[] = [];
  const declare = async ({ name }: { readonly name: string }) => {
    names.push(name);
    return answer;
  };
  server.engine.keepDeclared({ open: () => ({ declare, withdraw: async () => answer, close: () => undefined }) });
  const head = `server = "${server.bridge.host}:${server.bridge.port}"\nvkey = "${CLIENT.vkey}"\n`;
  const tunnel = (name: string): string =>
    `[tunnels.${name}]\ntype = "tcp"\ntargets = ["127.0.0.1:1"]\nhealth = { interval = 1, timeout = 1, max_failed = 1 }\n`;
  writeFileSync(file, head + tunnel('web'));
  const log = new LogRecorder();
  const given = { servers: undefined, tls: undefined, vkey: undefined, allowFiles: [] };
  const agent = new ConfiguredAgent({ file, given, log: log.logger, version: '0.0.1', sockets: netBackend });
  expect(await agent.start()).toEqual([]);
  await eventually(() => server.engine.tunnelState(id)?.health?.targets, (targets) => targets?.[0]?.healthy === false);
  writeFileSync(file, `${head + tunnel('web') + tunnel('later')}[hosts.site]\nhost = "a.example"\ntargets = ["80"]\n`);
  await log.line(/a\.example/);
  expect(names.toSorted()).toEqual(['later', 'site', 'web']);
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
  expect(entries?.filter(({ kind }) => kind === 'host')).toEqual([{
    kind: 'host',
    name: 'site',
    id: 0,
    type: 'all',
    host: 'a.example',
    port: 0,
    targets: ['80'],
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
  expect(agent.plan?.entries.map(({ name }) => name)).toEqual(['web', 'later', 'site']);
  await agent.stop();
});
