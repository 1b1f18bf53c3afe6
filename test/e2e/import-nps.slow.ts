import { once } from 'node:events';
import http from 'node:http';
import path from 'node:path';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { SocksClient } from 'socks';
import { z } from 'zod';
import { importReport } from '../../src/schema/import/report.ts';
import { endChildren } from '../support/child.ts';
import { eitherDialect } from '../support/database.ts';
import { eventuallyAsync } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { startHttpTarget } from '../support/http-target.ts';
import { runCommand, settingsOf, settingsOfServer } from '../support/nps-command.ts';
import { npsClient, npsFolder, npsHost, npsTunnel, npsUser } from '../support/nps-folder.ts';
import { call, getClient, type ServerProcess, startAgent, startServer, write } from '../support/processes.ts';
import { removeScratchDirectories, scratchDirectory } from '../support/scratch.ts';
import { refusal, roundTrip, startEcho, startTarget, visit } from '../support/target.ts';

// Short form: test/migration/import-nps.test.ts

afterEach(endChildren);
afterAll(removeScratchDirectories);

const done = { code: 0, signal: null };
const refused = { code: 1, signal: null };
/** The report of a command with `--json`. */
const reported = (output: string) => importReport.parse(JSON.parse(output));

const tunnelList = z.object({ rows: z.array(z.object({ Id: z.number(), Port: z.number(), RunStatus: z.boolean(), Flow: z.unknown() })) });

async function tunnelsOf(server: ServerProcess, clientId: number) {
  return tunnelList.parse(await call(server, '/index/gettunnel/', { client_id: clientId, limit: 100 })).rows;
}

/** Waits until all started tunnels of a client listen. */
function listening(server: ServerProcess, clientId: number) {
  return eventuallyAsync(() => tunnelsOf(server, clientId), (tunnels) => tunnels.length > 0 && tunnels.every(({ RunStatus }) => RunStatus));
}

/** The status and body of a request. */
async function ask(options: http.RequestOptions): Promise<string> {
  const request = http.request({ host: '127.0.0.1', agent: false, ...options });
  request.end();
  const [response]: http.IncomingMessage[] = await once(request, 'response');
  let body = '';
  for await (const chunk of response?.setEncoding('utf8') ?? []) body += String(chunk);
  return `${response?.statusCode} ${body}`;
}

eitherDialect('adit import nps', (databases) => {
  test('imports with its flags; then a server serves what was imported: tunnels, hosts, accounts of proxies', async () => {
    const [echo, web] = [await startEcho(), await startHttpTarget()];
    const [tcp, proxy, socks] = [await freePort(), await freePort(), await freePort()];
    const database = await databases.create();
    const settings = settingsOf(database);
    const accounts = { MultiAccount: { AccountMap: { alice: 'her & secret', bob: 'another secret' } }, Target: null };
    const records = {
      users: [npsUser({ Id: 4 })],
      clients: [npsClient({ UserId: 4, VerifyKey: 'an old key', Cnf: { U: 'client', P: 'secret' } }), npsClient({ Id: 7 })],
      tasks: [
        npsTunnel({ Port: tcp, Target: { TargetStr: echo.address }, Flow: { InletFlow: 1000, ExportFlow: 2000 } }),
        npsTunnel({ Id: 6, Port: proxy, Mode: 'httpProxy', ...accounts }),
        npsTunnel({ Id: 7, Port: socks, Mode: 'socks5', ...accounts }),
      ],
      hosts: [npsHost({ Host: 'old.example.com', Target: { TargetStr: `127.0.0.1:${web.port}` } })],
    };
    const folder = npsFolder(records);
    const adit = (...flags: string[]) => runCommand(['import', 'nps', folder, ...flags], settings);

    const dry = await adit('--dry-run', '--json');
    expect(dry).toMatchObject(done);
    expect(reported(dry.output)).toMatchObject({
      outcome: 'planned',
      counts: { client: { added: 2 }, tunnel: { added: 3 }, host: { added: 1 }, user: { added: 1 } },
    });
    expect(await adit()).toMatchObject({ ...done, output: expect.stringMatching(/clients +2 +0 +0\n[^]*\nImported\.\n$/) });
    expect(await adit()).toMatchObject({ ...done, output: expect.stringContaining('\nNothing to do: ') });

    npsFolder({ ...records, clients: [{ ...records.clients[0], Remark: 'changed' }, npsClient({ Id: 7 })] }, folder);
    expect(await adit()).toMatchObject({ ...refused, output: expect.stringContaining('use --update') });
    expect(await adit('--update')).toMatchObject({ ...done, output: expect.stringMatching(/clients +0 +1 +1\n/) });

    const other = npsFolder({ clients: [npsClient({ Id: 20 }), npsClient({ Id: 21, VerifyKey: 'key7' })] });
    const merge = (...flags: string[]) => runCommand(['import', 'nps', other, '--merge', ...flags], settings);
    expect(await merge()).toMatchObject({ ...refused, output: expect.stringMatching(/Id 21: VerifyKey: is the key of client 7 of this server/) });
    const skipped = await merge('--skip-broken', '--json');
    expect(skipped).toMatchObject(done);
    expect(reported(skipped.output)).toMatchObject({ outcome: 'done', problems: [{ source: 'clients.json: Id 21', field: 'VerifyKey' }] });

    const server = await startServer({ dataDir: database.dataDir, environment: { ADIT_DATABASE_URL: database.url } });
    await startAgent(server, 'an old key');
    expect(await listening(server, 2)).toMatchObject([{ Id: 5, Port: tcp, Flow: { InletFlow: 1000, ExportFlow: 2000 } }, { Id: 6 }, { Id: 7 }]);
    expect(await getClient(server, 2)).toMatchObject({ Id: 2, IsConnect: true });
    expect(await roundTrip(await visit(tcp), 'through an imported tunnel')).toBe('through an imported tunnel');
    expect(await ask({ port: server.hostsPort, headers: { host: 'old.example.com' }, auth: 'client:secret' })).toMatch(/^200 GET \/ /);

    // The accounts of a tunnel replace the user name and password of its client.
    const url = `http://127.0.0.1:${web.port}/x`;
    const throughProxy = (login: string) =>
      ask({ port: proxy, path: url, headers: { host: `127.0.0.1:${web.port}`, 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` } });
    expect(await throughProxy('alice:her & secret')).toMatch(/^200 GET \/x /);
    expect(await throughProxy('bob:another secret')).toMatch(/^200 /);
    for (const login of ['alice:another secret', 'alice:her &amp; secret', 'client:secret', 'eve:']) expect(await throughProxy(login)).toMatch(/^407 /);
    const throughSocks = async (userId: string, password: string) => {
      const { socket } = await SocksClient.createConnection({
        proxy: { host: '127.0.0.1', port: socks, type: 5, userId, password },
        command: 'connect',
        destination: { host: '127.0.0.1', port: echo.port },
      });
      const answer = await roundTrip(socket, 'by socks');
      socket.destroy();
      return answer;
    };
    expect(await throughSocks('bob', 'another secret')).toBe('by socks');
    for (const [user, password] of [['bob', 'wrong'], ['client', 'secret']] as const) {
      await expect(throughSocks(user, password)).rejects.toThrow('Socks5 Authentication failed');
    }
  });
});

test('a running server imports at once: the port listens, the lists show it, records keep ids and counters; two records exchange keys and ports', async () => {
  const [one, two] = [await startTarget((socket) => socket.end('one')), await startTarget((socket) => socket.end('two'))];
  const [first, second] = [await freePort(), await freePort()];
  const server = await startServer();
  await write(server, '/client/add/', { vkey: 'of this server', remark: 'was here' });
  const target = (port: number) => ({ Target: { TargetStr: `127.0.0.1:${port}` } });
  // Longer than a request may be: sent in parts.
  const BlackIpList = Array.from({ length: 30_000 }, (_, index) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`);
  const records = {
    clients: [npsClient({ Id: 30, Remark: '办公室 𝔘', Flow: { InletFlow: 5, ExportFlow: 6, FlowLimit: 0 }, BlackIpList }), npsClient({ Id: 31 })],
    tasks: [
      npsTunnel({ Client: { Id: 30 }, Port: first, ...target(one.port), Flow: { InletFlow: 2 ** 40, ExportFlow: 7, FlowLimit: 0 } }),
      npsTunnel({ Id: 6, Client: { Id: 31 }, Port: second, ...target(two.port) }),
    ],
  };
  const folder = npsFolder(records);
  const adit = (...flags: string[]) => runCommand(['import', 'nps', folder, ...flags], settingsOfServer(server));

  expect(await adit()).toMatchObject({ ...refused, output: expect.stringContaining('use --merge') });
  expect(await adit('--merge', '--dry-run')).toMatchObject({ ...done, output: expect.stringContaining('--dry-run') });
  expect(await refusal(first)).toBe('ECONNREFUSED');
  expect(await adit('--merge')).toMatchObject({ ...done, output: expect.stringContaining('\nImported.\n') });
  expect(await listening(server, 30)).toMatchObject([{ Id: 5, Port: first, Flow: { InletFlow: 2 ** 40, ExportFlow: 7 } }]);
  expect(await call(server, '/client/getclient/', { id: 30 })).toMatchObject({ data: { Remark: '办公室 𝔘', VerifyKey: 'key30', BlackIpList } });
  expect(await write(server, '/client/add/', { vkey: 'new' })).toBe(32);
  const agents = [await startAgent(server, 'key30'), await startAgent(server, 'key31')];
  const answer = async (port: number) => (await (await visit(port)).setEncoding('utf8').toArray()).join('');
  expect([await answer(first), await answer(second)]).toEqual(['one', 'two']);
  expect(await adit('--merge')).toMatchObject({ ...done, output: expect.stringContaining('\nNothing to do: ') });

  npsFolder({
    clients: [{ ...records.clients[0], VerifyKey: 'key31' }, { ...records.clients[1], VerifyKey: 'key30' }],
    tasks: [{ ...records.tasks[0], Port: second }, { ...records.tasks[1], Port: first }],
  }, folder);
  expect(await adit('--update')).toMatchObject({ ...done, output: expect.stringMatching(/clients +0 +2 +0\ntunnels +0 +2 +0\n/) });
  // The first agent's key is that of the second client now, whose tunnel has the port of the first.
  await agents[1]?.end();
  await eventuallyAsync(
    () => Promise.all([getClient(server, 30), getClient(server, 31)]),
    ([{ IsConnect: before }, { IsConnect: now }]) => !before && now,
  );
  await listening(server, 31);
  expect(await answer(first)).toBe('two');
});

test('a server with HTTPS imports, too', async () => {
  const server = await startServer({ environment: { ADIT_HTTP_TLS: 'self-signed' } });
  const settings = { ...settingsOfServer(server), ADIT_HTTP_TLS: 'self-signed' };
  const folder = npsFolder({ clients: [npsClient()] });
  expect(await runCommand(['import', 'nps', folder], settings)).toMatchObject({ ...done, output: expect.stringContaining('\nImported.\n') });
  expect(await runCommand(['import', 'nps', folder], settings)).toMatchObject({ ...done, output: expect.stringContaining('\nNothing to do: ') });
  // Without the right key, the command says so.
  const unknown = await runCommand(['import', 'nps', folder], { ...settings, ADIT_AUTH_KEY: 'another key' });
  expect(unknown).toMatchObject({ ...refused, output: expect.stringMatching(/^adit: the running server has refused the import: /) });
});

test('damaged folders: exit code 1, with file, record and field, and nothing is written', async () => {
  const dataDir = scratchDirectory();
  const settings = settingsOf({ dataDir, url: '' });
  const adit = (folder: string, ...flags: string[]) => runCommand(['import', 'nps', folder, ...flags], settings);
  const truncated = `${JSON.stringify(npsClient())}\n*#*${JSON.stringify(npsClient({ Id: 3 })).slice(0, 80)}`;
  expect(await adit(npsFolder({ clients: truncated }))).toMatchObject({ ...refused, output: expect.stringMatching(/clients\.json: Id 3: .*truncated/) });
  const dangling = npsFolder({ clients: [npsClient()], tasks: [npsTunnel({ Client: { Id: 99 } }), npsTunnel({ Id: 6, Port: '80' })] });
  expect(await adit(dangling)).toMatchObject({
    ...refused,
    output: expect.stringMatching(
      /tasks\.json: Id 6: Port: must be a whole number\n[^]*tasks\.json: Id 5: Client\.Id: client 99 does not exist[^]*Nothing was imported/,
    ),
  });
  const json = await adit(dangling, '--json');
  expect(json).toMatchObject(refused);
  expect(reported(json.output)).toMatchObject({ outcome: 'refused', problems: [{ field: 'Port' }, { field: 'Client.Id' }] });
  expect(await adit(path.join(dataDir, 'no such folder'))).toMatchObject({ ...refused, output: expect.stringContaining('is not a directory') });
  // Nothing was written: it would be refused otherwise.
  expect(await adit(npsFolder({ clients: [npsClient({ VerifyKey: 'first' })] }))).toMatchObject({
    ...done,
    output: expect.stringMatching(/clients +1 +0 +0\n/),
  });
});
