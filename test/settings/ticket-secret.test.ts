import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { TICKET_SECRET_MS, ticketSecret, ticketSecretFile } from '../../src/settings/ticket-secret.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const directory = temporaryDirectory();
const mode = async (file: string): Promise<number> => (await stat(file)).mode & 0o777;

test('the secret is made once, for this user only, and is another one after a day', async () => {
  const dataDir = path.join(directory, 'data');
  const first = await ticketSecret(dataDir, 1000);
  expect(first).toHaveLength(32);
  expect(await mode(ticketSecretFile(dataDir))).toBe(0o600);
  expect(await ticketSecret(dataDir, 1000 + TICKET_SECRET_MS - 1)).toEqual(first);
  const second = await ticketSecret(dataDir, 1000 + TICKET_SECRET_MS);
  expect(second).not.toEqual(first);
  expect(await readFile(ticketSecretFile(dataDir), 'utf8')).not.toContain(first.toString('base64'));
  // A clock that was wrong keeps no secret for years.
  expect(await ticketSecret(dataDir, 500)).not.toEqual(second);
});

test('a file that others may read is closed to them; one that holds no secret is replaced', async () => {
  const dataDir = path.join(directory, 'open');
  const first = await ticketSecret(dataDir, 1000);
  await chmod(ticketSecretFile(dataDir), 0o644);
  expect(await ticketSecret(dataDir, 1001)).toEqual(first);
  expect(await mode(ticketSecretFile(dataDir))).toBe(0o600);
  for (const text of ['', '{}', 'no JSON', '{"secret":"AAAA","madeAt":1000}']) {
    await writeFile(ticketSecretFile(dataDir), text);
    expect(await ticketSecret(dataDir, 1001)).toHaveLength(32);
  }
});

test("a directory that can't be written is an error, not a secret that is gone with the process", async () => {
  const file = path.join(directory, 'file');
  await writeFile(file, '');
  await expect(ticketSecret(file, 1000)).rejects.toThrow(/ENOTDIR|EEXIST/);
});
