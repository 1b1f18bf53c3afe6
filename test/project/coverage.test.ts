import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { Child } from '../support/child.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const directory = temporaryDirectory();
const runtime = path.resolve(import.meta.dirname, '../support/runtime/runtime.cjs');
const measured = pathToFileURL(path.resolve(import.meta.dirname, '../../src/rules/bind-address.ts')).href;
const written = z.object({
  'source-map-cache': z.record(z.string(), z.object({ data: z.object({ sources: z.array(z.string()), mappings: z.string() }).nullable() })).optional(),
});

test('what V8 measures of a compiled source has the map to the lines of the source', async () => {
  const child = new Child(process.execPath, ['--require', runtime, '--input-type', 'module', '--eval', `await import('${measured}')`], {
    NODE_V8_COVERAGE: directory,
  });
  expect((await child.exited).code).toBe(0);
  const maps = readdirSync(directory).map((file) =>
    written.parse(JSON.parse(readFileSync(path.join(directory, file), 'utf8')))['source-map-cache']?.[measured]?.data
  );
  expect(maps).toContainEqual({ sources: [measured], mappings: expect.stringMatching(/^.{50}/) });
});
