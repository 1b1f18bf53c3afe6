import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from '@jest/globals';
import { isInputObjectType, isNonNullType } from 'graphql';
import { z } from 'zod';
import { limits } from '../../src/http/graphql-limits.ts';
import { EXPIRING_DAYS } from '../../src/rules/certificate.ts';
import { most } from '../../src/schema/enrolment/write.ts';
import { errorCodes } from '../../src/schema/error-codes.ts';
import { slotLimits } from '../../src/schema/limits/operation-slots.ts';
import { resultLimits } from '../../src/schema/limits/result-limits.ts';
import { rowLimits } from '../../src/schema/lists/page.ts';
import { expiryMs } from '../../src/schema/problem/sources.ts';
import { schema } from '../../src/schema/schema.ts';
import { NODE_DEAD_MS } from '../../src/store/nodes.ts';
import { endChildren } from '../support/child.ts';
import { isShort } from '../support/endurance.ts';
import { openTunnel, startServer, write } from '../support/processes.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const root = path.resolve(import.meta.dirname, '../..');
const doc = readFileSync(path.join(root, 'docs/api.md'), 'utf8');
const directory = temporaryDirectory();

afterEach(endChildren);

test('docs/api.md has every error code with its description and its message', () => {
  const rows = Object.entries(errorCodes).map(([code, { description, message }]) => `| \`${code}\` | ${description} | ${message} |`);
  expect(doc.split('\n').filter((line) => /^\| `[A-Z_]+` \|/.test(line))).toEqual(rows);
});

test.each([
  [
    /(\d+) levels of fields, (\d+) aliases, (\d+) directives, (\d+) tokens, and a cost of (\d+)/,
    [limits.depth, limits.aliases, limits.directives, limits.tokens, limits.cost],
  ],
  [/A subscription may cost (\d+) for each event/, [limits.eventCost]],
  [/has at most (\d+) rows and (\d+) characters/, [resultLimits.rows, resultLimits.characters]],
  [/(\d+) operations under way and (\d+) more\s+in a queue/, [slotLimits.running, slotLimits.waiting]],
  [/The default `limit` is (\d+) and the maximum is (\d+)/, [rowLimits.normal, rowLimits.most]],
  [/enable, disable, start, stop or delete up to (\d+) records/, [rowLimits.most]],
  [/A client has at most (\d+) codes/, [most.open]],
  [/`USER_EXPIRES` \| within (\d+) days/, [expiryMs / 86_400_000]],
  [/refused, or expires within (\d+) days/, [EXPIRING_DAYS]],
  [/has not reported to the database for (\d+) seconds/, [NODE_DEAD_MS / 1000]],
])('docs/api.md has the numbers of the program: %s', (said, numbers) => {
  expect(said.exec(doc)?.slice(1).map(Number)).toEqual(numbers);
});

/** The names in code in a part of the doc. */
const namesIn = (text = '') => Array.from(text.matchAll(/`([a-z]\w*)`/g), ([, name]) => name ?? '').toSorted();

test('docs/api.md has every subscription', () => {
  const rows = /^\| subscription \| reports \|\n\|---\|---\|\n(.*?)\n\n/ms.exec(doc)?.[1]?.split('\n').map((row) => row.split(' | ')[0]);
  expect(namesIn(rows?.join())).toEqual(Object.keys(schema.getSubscriptionType()?.getFields() ?? {}).toSorted());
});

test.each([
  ...[['clients', 'ClientFilter'], ['tunnels', 'TunnelFilter'], ['hosts', 'HostFilter'], ['users', 'UserFilter']],
  ...[['platformDomains', 'PlatformDomainFilter'], ['auditEntries', 'AuditEntryFilter']],
])('docs/api.md has every condition of the list %s', (list, name) => {
  const type = schema.getType(name);
  const row = new RegExp(`^\\| \`${list}\` \\| (.*)$`, 'm').exec(doc)?.[1]?.replace(/\([^`]*\)/g, '');
  expect(namesIn(row)).toEqual(isInputObjectType(type) ? Object.keys(type.getFields()).toSorted() : []);
});

test('docs/api.md has the queries that not everybody may make', () => {
  const said = /A field of `Query` that not every user or web login may call \((.*) for administrators; (.*) for user accounts\) is nullable/.exec(doc);
  const scoped = z.object({ pothosOptions: z.object({ authScopes: z.record(z.string(), z.unknown()).catch({}) }) });
  const withScope = (scope: string) =>
    Object.values(schema.getQueryType()?.getFields() ?? {}).filter(({ extensions }) => scope in scoped.parse(extensions).pothosOptions.authScopes);
  for (const [index, scope] of ['administrator', 'user'].entries()) {
    const fields = withScope(scope);
    expect(namesIn(said?.[index + 1])).toEqual(fields.map(({ name }) => name).toSorted());
    expect(fields.filter(({ type }) => isNonNullType(type))).toEqual([]);
  }
});

/** The files of the doc's example, as somebody would copy them, with the packages and the schema that it names. */
function writeExample(): void {
  symlinkSync(path.join(root, 'node_modules'), path.join(directory, 'node_modules'));
  writeFileSync(path.join(directory, 'package.json'), '{"type":"module"}');
  cpSync(path.join(root, 'src/schema/schema.graphql'), path.join(directory, 'schema.graphql'));
  for (const [, name = '', content = ''] of doc.matchAll(/^```\w+ file=(\S+)\n(.*?)^```$/gms)) {
    mkdirSync(path.dirname(path.join(directory, name)), { recursive: true });
    writeFileSync(path.join(directory, name), content);
  }
}

/** Runs a program of the packages in the example's directory. @returns what it printed @throws when it fails */
async function runTool(script: string, args: readonly string[] = [], environment: Readonly<Record<string, string>> = {}): Promise<string> {
  const run = promisify(execFile)(process.execPath, [path.join(root, 'node_modules', script), ...args], {
    cwd: directory,
    env: { ...process.env, ...environment },
  });
  const { stdout } = await run.catch((error: Error & { stdout: string }) => {
    throw new Error(`${error.message}\n${error.stdout}`);
  });
  return stdout;
}

if (!isShort) {
  describe("the doc's example", () => {
    const password = 'the password of the doc';

    /** The token that the doc's curl line makes. */
    async function makeToken(url: string): Promise<string> {
      const body = /-d '(\{"query":"mutation \{ createApiToken.*\})'$/m.exec(doc)?.[1] ?? '';
      const headers = { 'content-type': 'application/json', authorization: `Basic ${Buffer.from(`admin:${password}`).toString('base64')}` };
      const answer: unknown = await (await fetch(url, { method: 'POST', headers, body })).json();
      return z.object({ data: z.object({ createApiToken: z.object({ token: z.string() }) }) }).parse(answer).data.createApiToken.token;
    }

    test('is generated, compiles without a complaint, and does what the doc says', async () => {
      writeExample();
      await runTool('@graphql-codegen/cli/cjs/bin.js');
      expect(await runTool('dev-typescript/bin/tsc')).toBe('');

      const server = await startServer({ dataDir: path.join(directory, 'data'), environment: { ADIT_ADMIN_PASSWORD: password } });
      const id = await write(server, '/client/add/', { remark: 'office' });
      await write(server, '/client/add/', { remark: 'home' });
      const { port } = await openTunnel(server, id, '127.0.0.1:22');
      const url = `http://127.0.0.1:${server.httpPort}/graphql`;
      const output = await runTool('tsx/dist/cli.mjs', ['src/main.ts'], { ADIT_URL: url, ADIT_TOKEN: await makeToken(url) });
      expect(output).toBe(`${id} office: offline, tunnels at ${port}\n1 in all\nFORBIDDEN: permission denied\n`);

      // The types are the schema's: a field that it doesn't have does not compile.
      const main = path.join(directory, 'src/main.ts');
      writeFileSync(main, readFileSync(main, 'utf8').replace('page.clients.total', 'page.clients.count'));
      await expect(runTool('dev-typescript/bin/tsc')).rejects.toThrow("Property 'count' does not exist");
      // So are the codes of errors, and a fragment's fields are its component's alone.
      const original = /^```ts file=src\/main\.ts\n(.*?)^```$/ms.exec(doc)?.[1] ?? '';
      writeFileSync(main, original.replace("'FORBIDDEN'", "'FORBIDEN'").replace('lineOf(client)', 'client.remark'));
      const refused = runTool('dev-typescript/bin/tsc');
      await expect(refused).rejects.toThrow('have no overlap');
      await expect(refused).rejects.toThrow("Property 'remark' does not exist");
    });
  });
}
