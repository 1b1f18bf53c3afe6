import path from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { endChildren } from '../support/child.ts';
import { startServer, write } from '../support/processes.ts';

afterEach(endChildren);

test('a server whose writing worker dies exits with one line, since it is unknown whether its last write is stored', async () => {
  const server = await startServer({ environment: { NODE_OPTIONS: `--import ${path.join(import.meta.dirname, '../support/mortal-writer.mjs')}` } });
  // A worker that is terminated within a statement takes the process with it, and a start writes: after this write, nothing is under way.
  await write(server, '/client/add/', { remark: 'last' });
  const { child } = server;
  child.kill('SIGUSR2');
  expect(await child.exited).toEqual({ code: 1, signal: null });
  expect(child.output).toMatch(/\nadit: the database writer has ended: exit code 1; this server ends\n$/);
});
