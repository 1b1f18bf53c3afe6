import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';

// What left-behind.test.ts runs: a suite that passes and removes nothing.

test('leaves a process and a file', () => {
  const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
  child.unref();
  expect(child.pid).toBeDefined();
  writeFileSync(path.join(mkdtempSync(path.join(tmpdir(), 'adit-forgotten-')), 'a file'), '');
});
