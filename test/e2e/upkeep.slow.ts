import path from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { databaseFileName } from '../../src/store/sqlite.ts';
import { openDatabase } from '../../src/store/sqlite/binding.ts';
import { keyIdOf, proveHandshake } from '../../src/wire/handshake.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import { endChildren } from '../support/child.ts';
import { eventually } from '../support/eventually.ts';
import { call, signedNow, startServer, type ServerProcess } from '../support/processes.ts';

// Short form: test/schema/expiry.test.ts

afterEach(endChildren);

async function graphql({ httpPort }: ServerProcess, query: string): Promise<unknown> {
  const { auth_key, timestamp } = signedNow();
  const answer = await fetch(`http://127.0.0.1:${httpPort}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-adit-auth-key': auth_key, 'x-adit-timestamp': String(timestamp) },
    body: JSON.stringify({ query }),
  });
  return answer.json();
}

/** Offers a key that no client has; the same one again would be no further guess. */
async function guessKey({ bridgePort }: ServerProcess, key: string): Promise<void> {
  const socket = await netBackend.connect({ host: '127.0.0.1', port: bridgePort, timeoutMs: 5000 });
  await expect(proveHandshake(socket, { timeoutMs: 5000, role: 'mux', keyId: keyIdOf(key), key, connection: 0, info: {} })).rejects.toThrow(/vkey/);
}

test('the API has the ports at which the server listens, whatever the settings ask for', async () => {
  const server = await startServer();
  expect(await graphql(server, '{ server { bridgePort bridgeTlsPort hostHttpPort hostHttpsPort } }')).toEqual({
    data: {
      server: { bridgePort: server.bridgePort, bridgeTlsPort: server.tlsPort, hostHttpPort: server.hostsPort, hostHttpsPort: server.secureHostsPort },
    },
  });
});

test('an address that guesses keys on the bridge is listed for administrators, and freed by them', async () => {
  const server = await startServer();
  for (let n = 0; n < 3; n++) await guessKey(server, `guess ${n}`);
  expect(await graphql(server, '{ lockouts { credential kind source } }')).toEqual({
    data: { lockouts: [{ credential: 'VKEY', kind: 'ADDRESS', source: '127.0.0.1' }] },
  });
  expect(await graphql(server, 'mutation { freeLockout(kind: ADDRESS, source: "127.0.0.1") }')).toEqual({ data: { freeLockout: true } });
  expect(await graphql(server, '{ lockouts { source } auditEntries { rows { resource resourceId action } } }')).toEqual({
    data: {
      lockouts: [],
      auditEntries: {
        rows: [
          { resource: 'LOCKOUT', resourceId: '127.0.0.1', action: 'DELETE' },
          { resource: 'LOCKOUT', resourceId: '127.0.0.1', action: 'CREATE' },
          { resource: 'FAILED_ATTEMPT', resourceId: '', action: 'CREATE' },
        ],
      },
    },
  });
});

const counted = z.tuple([z.object({ count: z.number() })]);

test('an expiry that passed while the server was down is published at its next start, and tokens of an earlier version are logged', async () => {
  const { child, dataDir } = await startServer().then(async (server) => {
    expect(await call(server, '/client/add/', { expire_time: '2999-01-01' })).toMatchObject({ status: 1 });
    return server;
  });
  child.kill('SIGKILL');
  await child.exited;
  const database = openDatabase(path.join(dataDir, databaseFileName), { busyMs: 5000 });
  database.exec(`UPDATE "Client" SET "expiresAt" = '2026-01-01T00:00:00.000+00:00'`);
  database.exec(`INSERT INTO "ApiToken" ("name", "hash", "readOnly") VALUES ('an old token', 'x', true)`);
  const next = await startServer({ dataDir });
  expect(next.child.output).toMatch(/API tokens from an earlier version.*an old token/s);
  const entries = database.prepare(`SELECT count(*) AS count FROM "AuditEntry" WHERE "callerKind" = 'server' AND resource = 'client' AND "resourceId" = '1'`);
  await eventually(() => counted.parse(entries.all()), ([{ count }]) => count === 1);
  expect(database.prepare(`SELECT expired FROM "Client"`).all()).toEqual([{ expired: 1 }]);
  database.close();
});
