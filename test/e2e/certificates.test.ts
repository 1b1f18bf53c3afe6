import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { fingerprintOf } from '../../src/wire/tls.ts';
import { covering, makeCertificate, other, type TestCertificate } from '../support/certificates.ts';
import { endChildren } from '../support/child.ts';
import { getClient, startAgent, startServer, write } from '../support/processes.ts';
import { removeScratchDirectories } from '../support/scratch.ts';
import { graphql } from '../support/several-servers.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const directory = temporaryDirectory();
afterEach(endChildren);
afterAll(removeScratchDirectories);

test('SIGHUP reloads the certificates of hosts and bridge without closing connections, and logs unusable certificates', async () => {
  const files = [
    path.join(directory, 'bridge.crt'),
    path.join(directory, 'bridge.key'),
    path.join(directory, 'host.crt'),
    path.join(directory, 'host.key'),
  ] as const;
  const put = async (bridge: TestCertificate, host: TestCertificate): Promise<void> => {
    await Promise.all([bridge.certificate, bridge.key, host.certificate, host.key].map((text, index) => writeFile(files[index] ?? '', text)));
  };
  await put(covering, covering);
  const server = await startServer({ environment: { ADIT_BRIDGE_TLS_CERT: files[0], ADIT_BRIDGE_TLS_KEY: files[1] } });
  const clientId = await write(server, '/client/add/', { vkey: 'the key of the agent' });
  await write(server, '/index/addhost/', {
    client_id: clientId,
    host: 'a.p.example.com',
    scheme: 'https',
    target: '127.0.0.1:1',
    cert_file_path: files[2],
    key_file_path: files[3],
  });
  const agent = await startAgent(server, 'the key of the agent', {}, 'pinned');
  const reload = async (): Promise<string> => {
    const before = server.child.output.length;
    server.child.kill('SIGHUP');
    await server.child.says(/the certificates are reloaded/, before);
    return server.child.output.slice(before);
  };

  await put({ certificate: other.certificate, key: covering.key }, covering);
  expect(await reload()).toMatch(/SIGHUP: reloading the certificates[^]*the certificate of the bridge cannot be used: the previous one stays in use/);

  const fresh = await makeCertificate(['*.p.example.com', 'fresh.example.com']);
  await put(fresh, fresh);
  expect(await reload()).toMatch(/a certificate is in use/);
  const { server: { bridgeTlsFingerprint: fingerprint } } = z.object({ server: z.object({ bridgeTlsFingerprint: z.string() }) }).parse(
    await graphql(server, '{ server { bridgeTlsFingerprint } }'),
  );
  expect(fingerprint).toBe(fingerprintOf(fresh.certificate));
  expect(await getClient(server, clientId)).toMatchObject({ IsConnect: true });
  await agent.end();
  await startAgent({ ...server, fingerprint }, 'the key of the agent', {}, 'pinned');
});
