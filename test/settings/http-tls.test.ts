import { createHash, X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { httpTls } from '../../src/settings/http-tls.ts';
import { covering, other } from '../support/certificates.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const directory = temporaryDirectory();

function file(name: string, text: string): string {
  const place = path.join(directory, name);
  writeFileSync(place, text);
  return place;
}

// The self-signed certificate of an earlier start.
const dataDir = path.join(directory, 'data');
mkdirSync(dataDir);
writeFileSync(path.join(dataDir, 'http-tls.pem'), `${other.certificate}${other.key}`);
const certificate = file('own.crt', covering.certificate);
const key = file('own.key', covering.key);
const given = { dataDir, httpTls: 'off', httpTlsCert: '', httpTlsKey: '', httpRedirectPort: '', publicUrl: '', acme: false } as const;

/** @param settings other than none @param order as for httpTls */
function tlsOf(settings: Partial<Parameters<typeof httpTls>[0]>, order: (name: string) => string | undefined = () => undefined) {
  return httpTls({ ...given, ...settings }, ['/nonexistent'], order);
}

test('without settings there is no HTTPS, and nothing to redirect to', async () => {
  expect(await tlsOf({})).toBeUndefined();
  await expect(tlsOf({ httpRedirectPort: 80 })).rejects.toThrow('http_redirect_port: needs HTTPS');
});

test('own files are used and watched, before anything else; one alone is refused', async () => {
  for (const how of ['off', 'self-signed'] as const) {
    expect(await tlsOf({ httpTlsCert: certificate, httpTlsKey: key, httpTls: how, httpRedirectPort: 80 })).toEqual({
      identity: covering,
      files: { certificate, key },
      pin: '',
    });
  }
  await expect(tlsOf({ httpTlsCert: certificate })).rejects.toThrow('must be given both or not at all');
  await expect(tlsOf({ httpTlsKey: key })).rejects.toThrow('must be given both or not at all');
});

test('a self-signed certificate is never replaced, and has a pin', async () => {
  const key = new X509Certificate(other.certificate).publicKey.export({ type: 'spki', format: 'der' });
  const pin = `sha256//${createHash('sha256').update(key).digest('base64')}`;
  expect(await tlsOf({ httpTls: 'self-signed' })).toMatchObject({ files: undefined, pin });
});

test('a certificate is generated for the API, and for the name at which it is reached, if there is one', async () => {
  const [words, pem] = [path.join(directory, 'words'), file('pair.pem', `${other.certificate}${other.key}`)];
  const wordsFor = async (publicUrl: string) => {
    const settings = { ...given, dataDir: path.join(directory, `for ${publicUrl.length}`), httpTls: 'self-signed', publicUrl } as const;
    expect((await httpTls(settings, ['sh', '-c', `printf '%s|' "$@" >'${words}'; cat '${pem}'`, 'generate'], () => undefined))?.identity.key).toContain(
      other.key,
    );
    return readFileSync(words, 'utf8');
  };
  expect([await wordsFor('https://adit.example.com:8443/a'), await wordsFor('')]).toEqual(['Adit API|adit.example.com|', 'Adit API|']);
});

test('the certificate of ACME replaces the self-signed one when it is there; it needs a public name, and ACME', async () => {
  const acme = { httpTls: 'acme', publicUrl: 'https://adit.example.com' } as const;
  const ordered: string[] = [];
  const tls = await tlsOf(acme, (name) => {
    ordered.push(name);
    return '/the/file';
  });
  expect(tls).toMatchObject({ files: { certificate: '/the/file', key: '/the/file' }, pin: '' });
  expect(ordered).toEqual(['adit.example.com']);
  await expect(tlsOf(acme)).rejects.toThrow('http_tls: "acme" needs acme = true');
  await expect(tlsOf({ ...acme, publicUrl: '' })).rejects.toThrow('public_url: must have the name for which');
  await expect(tlsOf({ ...acme, publicUrl: 'https://127.0.0.1' })).rejects.toThrow(/^public_url: .* for which http_tls = "acme" gets/);
});
