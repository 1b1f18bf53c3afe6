import { once } from 'node:events';
import http from 'node:http';
import { text } from 'node:stream/consumers';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { drainNode } from '../src/drain-node.ts';
import { addressOf } from '../src/http/listening.ts';
import { sign } from '../src/legacy/signature.ts';
import { nodesText } from '../src/list-nodes.ts';
import { addNodesCommand } from '../src/nodes-command.ts';
import { newProgram } from '../src/program.ts';
import { keepInstallationKey } from '../src/settings/installation-key.ts';
import { temporaryDirectory } from './support/temporary-directory.ts';

/** A server that answers as a test says, and what it was asked. */
let answer = '';
const asked: Array<{ readonly url: string; readonly query: string; readonly variables: unknown }> = [];
const server = http.createServer(async (request, response) => {
  const { query, variables } = JSON.parse(await text(request));
  asked.push({ url: request.url ?? '', query, variables });
  const { 'x-adit-auth-key': signature, 'x-adit-timestamp': timestamp } = request.headers;
  const right = signature === sign('the key of the server', Number(timestamp)) && Math.abs(Number(timestamp) * 1000 - Date.now()) < 60_000;
  response.end(right ? answer : 'wrong signature');
});
beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
afterAll(() => void server.close());

const dataDir = temporaryDirectory();
const input = (more: Readonly<Record<string, string>> = {}) => ({
  environment: {
    ADIT_DATA_DIR: dataDir,
    ADIT_HTTP_HOST: '127.0.0.1',
    ADIT_HTTP_PORT: String(addressOf(server).port),
    ADIT_BASE_PATH: '/adit',
    ADIT_AUTH_KEY: 'the key of the server',
    ...more,
  },
});

const row = {
  ...{ name: 'one', address: 'one.test:8024', version: '1.2.3', startedAt: '2026-11-27T10:00:00.000Z', lastReportAt: '2026-11-27T11:00:00.000Z' },
  ...{ stopped: false, alive: true, draining: false, agents: 3, connections: 4, load: 0.256, lagSeconds: 0.5, differentSettings: [], unreachableFrom: [] },
};

test('the nodes are listed as a table, with what is wrong with them below it, or as JSON', async () => {
  const from = (name: string, since: string) => ({ node: name, since, problem: `refused by ${name}` });
  const nodes = [
    row,
    { ...row, name: 'the second', address: null, draining: true, agents: 12, differentSettings: ['auth_key', 'acme'] },
    { ...row, name: 'ended', alive: false, stopped: true },
    { ...row, name: 'lost', alive: false, unreachableFrom: [from('one', '2026-11-27T10:30:00.000Z'), from('two', '2026-11-27T10:20:00.000Z')] },
  ];
  answer = JSON.stringify({ data: { nodes } });
  expect(await nodesText(input(), false)).toBe(`\
NAME        ADDRESS        VERSION  STARTED                   ALIVE  DRAINING  AGENTS  CONNECTIONS  LOAD  LAG
one         one.test:8024  1.2.3    2026-11-27T10:00:00.000Z  yes    no        3       4            26 %  0.5 s
the second  -              1.2.3    2026-11-27T10:00:00.000Z  yes    yes       12      4            26 %  0.5 s
ended       one.test:8024  1.2.3    2026-11-27T10:00:00.000Z  no     -         -       -            -     -
lost        one.test:8024  1.2.3    2026-11-27T10:00:00.000Z  no     -         -       -            -     -
the second has other settings: auth_key, acme
lost has not reported to the database since 2026-11-27T11:00:00.000Z, and was not stopped
lost cannot be reached from one, two since 2026-11-27T10:20:00.000Z: refused by two
`);
  expect((await nodesText(input(), true)).split('\n').slice(0, -1).map((line) => JSON.parse(line))).toEqual(nodes);
  expect(asked.map(({ url, query }) => [url, query])).toEqual(
    Array.from({ length: 2 }, () => ['/adit/graphql', `{ nodes { ${Object.keys(row).join(' ')} { node since problem } } }`]),
  );
});

test('a node is drained by its name, and serves again; a server that refuses or does not answer says why', async () => {
  asked.length = 0;
  answer = JSON.stringify({ data: { node: { name: 'two', agents: 5 } } });
  expect([await drainNode(input(), 'two', 'drain'), await drainNode(input(), 'two', 'undrain')]).toEqual([
    expect.stringMatching(/^two drains: it has 5 agents/),
    expect.stringMatching(/^two no longer drains/),
  ]);
  expect(asked.map(({ query, variables }) => [/node: (\w+)/.exec(query)?.[1], variables])).toEqual([
    ['drainNode', { name: 'two' }],
    ['undrainNode', { name: 'two' }],
  ]);
  const drain = (more: Readonly<Record<string, string>> = {}) => drainNode(input(more), 'two', 'drain');
  answer = JSON.stringify({ data: null, errors: [{ message: 'it is the last one' }] });
  await expect(drain()).rejects.toThrow(/refused the request: it is the last one$/);
  answer = '{}';
  await expect(drain()).rejects.toThrow(/refused the request: its response has an unknown form$/);
  await expect(drain({ ADIT_AUTH_KEY: 'another key of a server' })).rejects.toThrow(/^no response from the server at http:.*: Unexpected token/);
  await expect(drain({ ADIT_AUTH_KEY: '' })).rejects.toThrow(/^auth_key: /);
  await expect(drain({ ADIT_HTTP_PORT: '0' })).rejects.toThrow(/^http_port: /);
});

test('each command reads the settings file that it is given, and prints what the function of its name returns', async () => {
  const file = path.join(dataDir, 'named.toml');
  const settings = { data_dir: dataDir, http_host: '127.0.0.1', http_port: addressOf(server).port, base_path: '/adit', auth_key: 'the key of the server' };
  writeFileSync(file, Object.entries(settings).map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`).join(''));
  const write = jest.spyOn(process.stdout, 'write').mockImplementation(() => true);
  try {
    const printed = async (...words: readonly string[]) => {
      const program = newProgram();
      addNodesCommand(program);
      await program.parseAsync(['nodes', ...words, '--config', file], { from: 'user' });
      return write.mock.calls.splice(0).map(([text]) => String(text)).join('');
    };
    answer = JSON.stringify({ data: { nodes: [row] } });
    expect(await printed()).toMatch(/^NAME .*\none /);
    expect(JSON.parse(await printed('--json'))).toEqual(row);
    answer = JSON.stringify({ data: { node: { name: 'two', agents: 5 } } });
    expect([await printed('drain', 'two'), await printed('undrain', 'two')]).toEqual([
      expect.stringMatching(/^two drains/),
      expect.stringMatching(/no longer/),
    ]);
    keepInstallationKey(dataDir, Buffer.alloc(32, 1));
    expect(await printed('invite')).toBe(`adit-invitation-${Buffer.alloc(32, 1).toString('base64url')}\n`);
    await expect(printed('rotate-key')).rejects.toThrow('database_url: a server with SQLite');
  } finally {
    write.mockRestore();
  }
});
