import { once } from 'node:events';
import { readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import tls from 'node:tls';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { covering, other } from '../support/certificates.ts';
import { endChildren } from '../support/child.ts';
import { startServer, write, type ServerProcess } from '../support/processes.ts';
import { removeScratchDirectories } from '../support/scratch.ts';

// Short form: test/engine/vhost/https.test.ts

afterEach(endChildren);
afterAll(removeScratchDirectories);

type Version = 'TLSv1.2' | 'TLSv1.3';

/** Whether a handshake resumed a session, and the session that it leaves. */
async function shake({ secureHostsPort }: ServerProcess, maxVersion: Version, session?: Buffer, servername = 'a.p.example.com') {
  const socket = tls.connect({ port: secureHostsPort, host: '127.0.0.1', servername, rejectUnauthorized: false, maxVersion, session });
  let given: Buffer | undefined;
  socket.on('session', (one: Buffer) => {
    given = one;
  });
  await once(socket, 'secureConnect');
  const known = { resumed: socket.isSessionReused(), names: socket.getPeerCertificate().subjectaltname };
  socket.write(`GET / HTTP/1.1\r\nHost: ${servername}\r\nConnection: close\r\n\r\n`);
  let text = '';
  for await (const chunk of socket.setEncoding('latin1')) text += String(chunk);
  return { ...known, status: text.slice(9, 12), session: given };
}

test('TLS sessions are resumed after a restart, only for the certificate that they began with, and not with another secret', async () => {
  const server = await startServer();
  const client = await write(server, '/client/add/', { vkey: 'the key of a client' });
  const host = { client_id: client, scheme: 'all', target: '127.0.0.1:1' };
  await write(server, '/index/addhost/', { ...host, host: '*.p.example.com', cert_file_path: covering.certificate, key_file_path: covering.key });
  await write(server, '/index/addhost/', { ...host, host: 'a.example.org', cert_file_path: other.certificate, key_file_path: other.key });
  const versions: readonly Version[] = ['TLSv1.2', 'TLSv1.3'];
  const sessions = await Promise.all(versions.map(async (version) => (await shake(server, version)).session));
  await server.child.end();
  const file = path.join(server.dataDir, 'tls-tickets.json');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const secret = await readFile(file, 'utf8');

  const again = await startServer({ dataDir: server.dataDir });
  for (const [at, version] of versions.entries()) {
    // No agent is there, which the server says over the resumed connection.
    expect(await shake(again, version, sessions[at])).toMatchObject({ resumed: true, status: '503' });
    expect(await shake(again, version, sessions[at], 'b.p.example.com')).toMatchObject({ status: '503' });
    expect(await shake(again, version, sessions[at], 'a.example.org')).toMatchObject({ resumed: false, status: '503', names: 'DNS:*.example.org' });
  }
  await again.child.end();
  expect(await readFile(file, 'utf8')).toBe(secret);

  await rm(file);
  const third = await startServer({ dataDir: server.dataDir });
  for (const [at, version] of versions.entries()) expect(await shake(third, version, sessions[at])).toMatchObject({ resumed: false, status: '503' });
});
