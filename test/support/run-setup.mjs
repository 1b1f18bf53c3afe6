import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import process from 'node:process';
import readline from 'node:readline';

/**
 * Called by jest before the first suite. A whole run shares one PostgreSQL server: to make one takes two seconds of a processor, and
 * a third of the suites needs one. Named suites start their own when they do.
 */
export default async function setup({ testPathPatterns }) {
  if (testPathPatterns.patterns.length > 0) return;
  const program = path.join(import.meta.dirname, 'shared-postgresql.ts');
  const child = spawn(process.execPath, ['--import', 'tsx', program], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = await once(readline.createInterface(child.stdout), 'line');
  if (line === '') return;
  process.env.TEST_POSTGRESQL = line;
  globalThis.sharedPostgresql = child;
}
