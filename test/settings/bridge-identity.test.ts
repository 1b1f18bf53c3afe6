import { X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { bridgeIdentity, bridgeIdentityFile } from '../../src/settings/bridge-identity.ts';
import { SettingsError } from '../../src/settings/settings-error.ts';
import { versionKeyOf } from '../../src/settings/tls-identity.ts';
import process from 'node:process';
import { GENERATE_CERTIFICATE } from '../../src/own-program.ts';
import { programOf } from '../support/processes.ts';
import { covering, other } from '../support/certificates.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const directory = temporaryDirectory();
const command = [process.execPath, programOf(), GENERATE_CERTIFICATE];
const generated = { bridgeTlsCert: '', bridgeTlsKey: '' };

function file(name: string, text: string): string {
  const place = path.join(directory, name);
  writeFileSync(place, text);
  return place;
}

test('the first start makes a certificate, for this user only, and the next one shows the same', async () => {
  const dataDir = path.join(directory, 'new/data');
  const first = await bridgeIdentity({ dataDir, ...generated }, command);
  expect((statSync(bridgeIdentityFile(dataDir)).mode & 0o777).toString(8)).toBe('600');
  expect(readdirSync(dataDir)).toEqual(['bridge-tls.pem']);
  const { validTo, publicKey, ca, keyUsage, raw, subject, subjectAltName } = new X509Certificate(first.certificate);
  expect([ca, keyUsage, subject, subjectAltName]).toEqual([false, ['1.3.6.1.5.5.7.3.1'], 'CN=Adit bridge', undefined]);
  // The key usage: digital signatures.
  expect(raw.toString('hex')).toMatch(/0603551d0f(?:0101ff)?040403020780/);
  expect(new Date(validTo).getFullYear()).toBeGreaterThan(2120);
  expect(publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
  expect(await bridgeIdentity({ dataDir, ...generated }, command)).toEqual(first);
  const named = await bridgeIdentity({ dataDir: path.join(directory, 'another'), ...generated }, [...command, 'a name', 'a.example', 'b.example']);
  expect(new X509Certificate(named.certificate)).toMatchObject({ subject: 'CN=a name', subjectAltName: 'DNS:a.example, DNS:b.example' });
  expect(named.key).not.toBe(first.key);
});

test("the operator's own certificate is taken as it is, and nothing is generated", async () => {
  const dataDir = path.join(directory, 'own');
  const own = { bridgeTlsCert: file('own.crt', covering.certificate), bridgeTlsKey: file('own.key', covering.key) };
  expect(await bridgeIdentity({ dataDir, ...own }, command)).toEqual({ certificate: covering.certificate, key: covering.key });
  expect(() => readFileSync(bridgeIdentityFile(dataDir))).toThrow('ENOENT');
});

test.each([
  ['a certificate without its key', { bridgeTlsCert: file('a.crt', covering.certificate), bridgeTlsKey: '' }, /must be given both or not at all/],
  ['a key without its certificate', { bridgeTlsCert: '', bridgeTlsKey: file('a.key', covering.key) }, /must be given both or not at all/],
  [
    'the key of another certificate',
    { bridgeTlsCert: file('b.crt', covering.certificate), bridgeTlsKey: file('b.key', other.key) },
    /the key is not that of the certificate/,
  ],
  ['a file that is missing', { bridgeTlsCert: '/nowhere/x.crt', bridgeTlsKey: '/nowhere/x.key' }, /ENOENT.*x\.crt/],
  ['files that are no PEM', { bridgeTlsCert: file('c.crt', 'hush'), bridgeTlsKey: file('c.key', 'hush') }, /^bridge_tls_cert, bridge_tls_key: (?!.*hush)/],
])('%s stops the start', async (_, own, message) => {
  await expect(bridgeIdentity({ dataDir: directory, ...own }, command)).rejects.toMatchObject({ problems: [expect.stringMatching(message)] });
});

test('a generated file that was damaged stops the start, and is not written over', async () => {
  const place = file('bridge-tls.pem', 'damaged');
  await expect(bridgeIdentity({ dataDir: directory, ...generated }, command)).rejects.toThrow(place);
  expect(readFileSync(place, 'utf8')).toBe('damaged');
});

test('a file that cannot be read stops the start, and nothing is generated', async () => {
  const dataDir = path.join(directory, 'unreadable');
  mkdirSync(bridgeIdentityFile(dataDir), { recursive: true });
  await expect(bridgeIdentity({ dataDir, ...generated }, ['/nowhere/generate'])).rejects.toThrow(/EISDIR/);
});

test('a certificate that cannot be generated stops the start, and nothing is left of it', async () => {
  const dataDir = path.join(directory, 'no program');
  for (const failing of [[path.join(directory, 'none')], [process.execPath, '--eval', 'process.exit(1)']]) {
    const made = bridgeIdentity({ dataDir, ...generated }, failing);
    await expect(made).rejects.toThrow(SettingsError);
    await expect(made).rejects.toThrow(`${bridgeIdentityFile(dataDir)}: `);
  }
  expect(existsSync(bridgeIdentityFile(dataDir))).toBe(false);
});

test('the secret of the versions of records is that of the key, whatever the certificate', () => {
  const versionKey = versionKeyOf(covering);
  expect(versionKey).toMatch(/^[0-9a-f]{64}$/);
  expect([versionKeyOf({ ...covering, certificate: other.certificate }), versionKeyOf(other) === versionKey]).toEqual([versionKey, false]);
});
