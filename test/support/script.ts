import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable } from 'node:stream';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/** Runs a TypeScript file of the tests in a process of its own, which may be killed. stderr goes to the test's. */
export function spawnScript(file: URL, args: readonly string[]): ChildProcessByStdio<null, Readable, null> {
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  return spawn(process.execPath, ['--import', tsx, file.pathname, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
}
