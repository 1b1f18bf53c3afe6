import { writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { expect, test } from '@jest/globals';
import { testBrowser } from '../../support/browser.ts';
import { findProgram } from '../../support/find-program.ts';
import { startOwnPostgresql } from '../../support/postgresql.ts';
import { startServer } from '../../support/processes.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { VanishingNetwork } from '../../support/vanishing-network.ts';

// What left-behind.test.ts interrupts: a suite with one of everything that suites start, which never ends.

const directory = temporaryDirectory();
const browser = findProgram('chromium') === undefined ? undefined : testBrowser();

test('is interrupted', async () => {
  const postgresql = findProgram('initdb') === undefined ? undefined : await startOwnPostgresql();
  await postgresql?.createDatabase();
  const server = await startServer();
  await browser?.open(`http://127.0.0.1:${server.httpPort}/openapi.json`);
  const network = process.getuid?.() === 0 && findProgram('ip') !== undefined ? new VanishingNetwork() : undefined;
  writeFileSync(path.join(directory, 'a file'), '');
  expect(network?.host).not.toBe('');
  process.stderr.write('everything has started\n');
  await new Promise(() => setInterval(() => undefined, 1000));
}, 600_000);
