import { statSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { afterEach, expect, test } from '@jest/globals';
import { Child, endChildren } from '../support/child.ts';
import { call, startServer, type ServerProcess } from '../support/processes.ts';

// Short form: test/store/data-lock.test.ts

const program = path.resolve(import.meta.dirname, '../../dist/main.js');

afterEach(endChildren);

/** What a server says that is started on the data directory of another, and how it ends. */
async function startSecond({ dataDir }: ServerProcess): Promise<{ readonly code: number | null; readonly output: string }> {
  const second = new Child(process.execPath, [program, 'server'], {
    ADIT_DATA_DIR: dataDir,
    ADIT_HTTP_PORT: '0',
    ADIT_BRIDGE_PORT: '0',
    ADIT_BRIDGE_TLS_PORT: '0',
    ADIT_LOG_LEVEL: 'error',
  });
  const { code } = await second.exited;
  return { code, output: second.output };
}

test('a second server on a data directory is refused in one line, the first goes on; killed, it is replaced at once', async () => {
  const first = await startServer();
  expect(await startSecond(first)).toEqual({ code: 1, output: `adit: another server is running on the data directory ${first.dataDir}\n` });
  expect(statSync(path.join(first.dataDir, 'adit.lock')).mode & 0o777).toBe(0o600);
  expect(await call(first, '/client/add/', { remark: 'kept' })).toMatchObject({ status: 1 });
  first.child.kill('SIGKILL');
  await first.child.exited;
  const next = await startServer({ dataDir: first.dataDir });
  expect(await call(next, '/client/list/')).toMatchObject({ total: 1 });
  expect((await startSecond(next)).code).toBe(1);
});
