import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { acmeOptions } from '../../src/settings/acme.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const dataDir = temporaryDirectory();
const given = {
  acme: true,
  acmeDirectory: 'https://ca.example/directory',
  acmeEmail: 'me@example.com',
  acmeCa: '',
  dataDir,
  httpTls: 'off',
  publicUrl: 'https://Adit.example.com:8443/a',
} as const;

test('ACME is off, or has its files below the data directory', () => {
  expect(acmeOptions({ ...given, acme: false })).toBeUndefined();
  expect(acmeOptions(given)).toEqual({
    directory: 'https://ca.example/directory',
    email: 'me@example.com',
    dir: path.join(dataDir, 'acme'),
    write: expect.any(Function),
  });
});

test("the server's own name is ordered only if the API is served with it", () => {
  expect(acmeOptions({ ...given, httpTls: 'acme' })).toMatchObject({ ownName: 'adit.example.com' });
  expect(acmeOptions({ ...given, httpTls: 'self-signed' })).not.toHaveProperty('ownName');
  expect(acmeOptions({ ...given, httpTls: 'acme', publicUrl: '' })).not.toHaveProperty('ownName');
});

test('the CA is read from its file, or named in the error', () => {
  const file = path.join(dataDir, 'ca.pem');
  writeFileSync(file, 'a certificate');
  expect(acmeOptions({ ...given, acmeCa: file })).toMatchObject({ ca: 'a certificate' });
  expect(() => acmeOptions({ ...given, acmeCa: path.join(dataDir, 'none.pem') })).toThrow(/^acme_ca: ENOENT/);
});
