import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll } from '@jest/globals';

/** A fresh directory that is gone when the tests of the calling file or suite are done. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'adit-test-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
