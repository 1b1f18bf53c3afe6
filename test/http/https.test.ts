import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import path from 'node:path';
import tls from 'node:tls';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { makeCertificate } from '../support/certificates.ts';
import { endChildren } from '../support/child.ts';
import { isShort } from '../support/endurance.ts';
import { eventuallyAsync } from '../support/eventually.ts';
import { freePortRange } from '../support/free-port.ts';
import { Pebble } from '../support/pebble.ts';
import { describeWith } from '../support/programs.ts';
import { authKey, startServer } from '../support/processes.ts';
import { removeScratchDirectories, scratchDirectory } from '../support/scratch.ts';
import { aditNodes } from '../support/several-servers.ts';

afterEach(endChildren);
afterAll(removeScratchDirectories);

/** The certificate that a server shows. */
async function shown(port: number): Promise<tls.PeerCertificate> {
  const socket = tls.connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const certificate = socket.getPeerCertificate();
  socket.destroy();
  return certificate;
}

test('the API is served over HTTPS with files, which are reloaded when they change; a pair that does not fit leaves the previous one in use', async () => {
  const directory = scratchDirectory();
  const [cert, key] = [path.join(directory, 'cert.pem'), path.join(directory, 'key.pem')];
  const place = (pair: { readonly certificate: string; readonly key: string }): void => {
    writeFileSync(cert, pair.certificate);
    writeFileSync(key, pair.key);
  };
  place(await makeCertificate(['first.example']));
  const server = await startServer({ environment: { ADIT_HTTP_TLS_CERT: cert, ADIT_HTTP_TLS_KEY: key, ADIT_HTTP_REDIRECT_PORT: '0' } });
  expect((await shown(server.httpPort)).subjectaltname).toBe('DNS:first.example');

  const sent = https.get({ host: '127.0.0.1', port: server.httpPort, path: '/healthz', rejectUnauthorized: false, agent: false });
  const [response] = await once(sent, 'response');
  response.resume();
  expect([response.statusCode, response.headers['strict-transport-security']]).toEqual([200, 'max-age=31536000']);

  writeFileSync(key, (await makeCertificate(['wrong.example'])).key);
  await server.child.says(/the certificate of the API can not be used/);
  expect((await shown(server.httpPort)).subjectaltname).toBe('DNS:first.example');
  place(await makeCertificate(['second.example']));
  server.child.kill('SIGHUP');
  await server.child.says(/the certificates are reloaded/);
  expect((await shown(server.httpPort)).subjectaltname).toBe('DNS:second.example');
  place(await makeCertificate(['third.example']));
  await eventuallyAsync(async () => (await shown(server.httpPort)).subjectaltname, (name) => name === 'DNS:third.example');
});

if (!isShort) {
  test('a port for plain HTTP only redirects, and commands ask the server over HTTPS', async () => {
    const redirectPort = await freePortRange(1);
    const server = await startServer({ environment: { ADIT_HTTP_TLS: 'self-signed', ADIT_HTTP_REDIRECT_PORT: String(redirectPort) } });
    const ask = async (host: string, route: string) => {
      const sent = http.request({ host: '127.0.0.1', port: redirectPort, path: route, method: 'POST', headers: { host }, agent: false });
      sent.end('auth_key=secret');
      const [response] = await once(sent, 'response');
      response.resume();
      return [response.statusCode, response.headers.location];
    };
    expect(await ask('panel.example', '/client/list/?a=b')).toEqual([308, `https://panel.example:${server.httpPort}/client/list/?a=b`]);
    expect(await ask('panel.example:8080', '//evil.example/')).toEqual([308, `https://panel.example:${server.httpPort}//evil.example/`]);
    expect(await ask('not a name', '/')).toEqual([400, undefined]);
    expect(await aditNodes(server, [], authKey, { ADIT_HTTP_TLS: 'self-signed' })).toEqual({
      code: 0,
      output: expect.stringMatching(/^NAME .*\n.* yes .*\n$/),
    });
    server.child.kill('SIGTERM');
    expect(await server.child.exited).toEqual({ code: 0, signal: null });
  });
}

if (!isShort) {
  describeWith(['pebble', 'pebble-challtestsrv'], 'the API with a certificate by ACME', () => {
    test('is self-signed until the certificate for the name of public_url has arrived', async () => {
      const directory = scratchDirectory();
      const httpPort = await freePortRange(1);
      const pebble = await Pebble.start(path.join(directory, 'pebble'), httpPort);
      const server = await startServer({
        environment: {
          ADIT_HTTP_TLS: 'acme',
          ADIT_ACME: 'true',
          ADIT_ACME_DIRECTORY: pebble.directory,
          ADIT_ACME_CA: pebble.caFile,
          ADIT_VHOST_HTTP_PORT: String(httpPort),
          ADIT_PUBLIC_URL: 'https://panel.example.com',
        },
      });
      await eventuallyAsync(async () => (await shown(server.httpPort)).issuer.CN, (issuer) => /Pebble/.test(issuer));
      expect((await shown(server.httpPort)).subjectaltname).toBe('DNS:panel.example.com');
    });
  });
}
