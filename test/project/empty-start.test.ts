import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { Child } from '../support/child.ts';
import { authKey, newDataDir, programOf } from '../support/processes.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const coverage = z.object({ result: z.array(z.object({ url: z.string() })) });
const dist = path.dirname(programOf());
const directory = temporaryDirectory();

/** The files of dist that the main thread and the database's thread have loaded. */
let loaded: string[];
/** The functions of Prisma's query compiler that V8 has compiled, and how. */
let compiled: string;

beforeAll(async () => {
  const server = new Child(process.execPath, ['--trace-wasm-compilation-times', programOf(), 'server'], {
    NODE_V8_COVERAGE: directory,
    ADIT_DATA_DIR: newDataDir(),
    ADIT_AUTH_KEY: authKey,
    ADIT_SOCKETS: 'captured',
    ...Object.fromEntries(['HTTP', 'BRIDGE', 'BRIDGE_TLS', 'VHOST_HTTP', 'VHOST_HTTPS', 'P2P'].map((port) => [`ADIT_${port}_PORT`, '0'])),
  });
  await server.says(/Bridge +/);
  server.kill('SIGTERM');
  await server.exited;
  compiled = server.output;
  const urls = readdirSync(directory).flatMap((file) =>
    coverage.parse(JSON.parse(readFileSync(path.join(directory, file), 'utf8'))).result.map(({ url }) => url)
  );
  loaded = [...new Set(urls.filter((url) => url.startsWith('file:')).map((url) => fileURLToPath(url)).filter((file) => file.startsWith(`${dist}${path.sep}`)))];
});

describe('the start of a server without data (docs/performance.md, "Memory")', () => {
  test('loads only these of the parts that are loaded when they are needed', () => {
    const parts = loaded.map((file) => path.relative(dist, file).replace(/^part-|-\w{8}\.js$/g, '')).filter((name) => name !== 'chunk');
    expect(parts.toSorted()).toEqual([
      'command-line',
      'main.js',
      'query_compiler_small_bg.sqlite',
      'query_compiler_small_bg.sqlite.wasm-base64',
      'server',
      'sqlite',
      path.join('store', 'sqlite', 'worker.js'),
      'writer',
    ]);
  });

  test('loads at most 3.9 MB of text', () => {
    const bytes = loaded.reduce((sum, file) => sum + statSync(file).size, 0);
    expect(bytes).toBeGreaterThan(1_000_000);
    expect(bytes).toBeLessThan(3_900_000);
  });

  test('has one copy of the exports of graphql, not one for each file that imports it', () => {
    const texts = loaded.map((file) => readFileSync(file, 'utf8')).join('');
    expect(texts.includes('GraphQLObjectType')).toBe(true);
    expect(/__toESM\(require_graphql\d*\(/.test(texts)).toBe(false);
  });

  test("does not have V8 optimize Prisma's query compiler", () => {
    expect(compiled).toMatch(/using Liftoff/);
    expect(compiled.match(/using TurboFan/g)?.length ?? 0).toBeLessThan(10);
  });
});
