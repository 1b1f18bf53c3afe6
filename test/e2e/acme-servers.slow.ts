import { once } from 'node:events';
import path from 'node:path';
import tls from 'node:tls';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { endChildren } from '../support/child.ts';
import { endurance } from '../support/endurance.ts';
import { eventually, eventuallyAsync } from '../support/eventually.ts';
import { freePortRange } from '../support/free-port.ts';
import { Pebble } from '../support/pebble.ts';
import { startPostgresql, type PostgresqlServer } from '../support/postgresql.ts';
import { startServer, write } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { removeScratchDirectories } from '../support/scratch.ts';
import { everywhere, graphql, joinServers, settingsOf, type TogetherServer } from '../support/several-servers.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

// Short form: test/engine/acme/shared.test.ts

afterEach(endChildren);
afterAll(removeScratchDirectories);

/** The names of the certificate that a handshake shows; "" = it failed. */
async function shown(host: string, port: number, servername: string): Promise<string> {
  const socket = tls.connect({ host, port, servername, rejectUnauthorized: false });
  try {
    await once(socket, 'secureConnect');
    return socket.getPeerCertificate().subjectaltname ?? '';
  } catch {
    return '';
  } finally {
    socket.on('error', () => undefined);
    socket.destroy();
  }
}

const hostSchema = z.object({
  host: z.object({
    certificate: z.object({
      fingerprint: z.string().nullable(),
      acme: z.object({
        status: z.string(),
        failures: z.number(),
        problem: z.string().nullable(),
        lastAttemptAt: z.string().nullable(),
        nextAttemptAt: z.string().nullable(),
      }),
    }),
  }),
});

describeWith(['initdb', 'pebble', 'pebble-challtestsrv'], 'certificates by ACME with several servers', () => {
  const directory = temporaryDirectory();
  let postgresql: PostgresqlServer;
  let httpPort: number;
  let pebble: Pebble;
  beforeAll(async () => {
    postgresql = await startPostgresql();
  });
  afterAll(() => postgresql.stop());

  async function environment(name: string): Promise<Readonly<Record<string, string>>> {
    httpPort = await freePortRange(1);
    pebble = await Pebble.start(path.join(directory, name), httpPort);
    return { ADIT_VHOST_HTTP_PORT: String(httpPort), ADIT_ACME: 'true', ADIT_ACME_DIRECTORY: pebble.directory, ADIT_ACME_CA: pebble.caFile };
  }

  const certificateOf = async (server: TogetherServer, id: number) =>
    hostSchema.parse(
      await graphql(server, `{ host(id: ${id}) { certificate { fingerprint acme { status failures problem lastAttemptAt nextAttemptAt } } } }`),
    ).host.certificate;

  test(
    'one server orders, any answers the challenge, and all serve what was issued: also those that start later, and after the one that ordered was killed',
    async () => {
      const url = await postgresql.createDatabase();
      const settings = await environment('servers');
      // On one port of different addresses, so that the authority comes to the server that a name leads to.
      const join = (number: number, other?: TogetherServer) => joinServers(url, number, other, { ...settings, ADIT_VHOST_HOST: `127.0.0.${number}` });
      const one = await join(1);
      const two = await join(2, one);
      const servers = [one, two];
      for (const { child, name } of servers) {
        for (const other of servers) if (other.name !== name) await child.says(new RegExp(`connected to another node node=${other.name}\\b`));
      }
      const clientId = await write(one, '/client/add/', {});
      /** Has a host ordered. @returns its id */
      const order = async (server: TogetherServer, name: string, leadTo: string): Promise<number> => {
        await pebble.lead(name, leadTo);
        const made = await graphql(
          server,
          `mutation { createHost(input: { clientId: ${clientId}, host: "${name}", scheme: HTTPS, targets: ["127.0.0.1:1"], acme: true }) { id } }`,
        );
        return Number(z.object({ createHost: z.object({ id: z.string() }) }).parse(made).createHost.id);
      };
      const served = async (all: readonly TogetherServer[], name: string): Promise<void> => {
        await Promise.all(
          all.map(({ tunnelHost, secureHostsPort }) => eventuallyAsync(() => shown(tunnelHost, secureHostsPort, name), (names) => names === `DNS:${name}`)),
        );
      };

      // The challenge comes to the server that does not order.
      const first = await order(one, 'a.example.com', '127.0.0.2');
      const issued = await eventuallyAsync(() => certificateOf(one, first), ({ acme }) => acme.status !== 'PENDING');
      expect(issued.acme).toMatchObject({ status: 'VALID', problem: null });
      const since = performance.now();
      await served(servers, 'a.example.com');
      expect(performance.now() - since).toBeLessThan(5000);
      await everywhere(
        servers,
        `{ host(id: ${first}) { certificate { status acme { status } } } }`,
        (data) => JSON.stringify(data).match(/"VALID"/g)?.length === 2,
      );
      const { fingerprint } = await certificateOf(one, first);
      expect((await certificateOf(two, first)).fingerprint).toBe(fingerprint);
      expect([pebble.orders, pebble.accounts]).toEqual([1, 1]);
      expect(two.child.output).not.toMatch(/a certificate was issued by ACME/);

      // A failure is known to all, and any can request another attempt.
      const second = await order(two, 'b.example.com', '127.0.0.8');
      const failed = await Promise.all(servers.map((server) => eventuallyAsync(() => certificateOf(server, second), ({ acme }) => acme.status === 'FAILED')));
      expect(failed[0]).toMatchObject({ acme: { failures: 1, problem: expect.stringMatching(/127\.0\.0\.8.*refused/) } });
      expect(failed[1]).toEqual(failed[0]);
      expect(JSON.stringify(await graphql(two, '{ diagnoseHost(host: "b.example.com", scheme: HTTPS) { reason } }'))).toMatch(
        /no usable certificate; .*refused/,
      );
      await pebble.lead('b.example.com', '127.0.0.1');
      await graphql(two, `mutation { retryAcme(hostId: ${second}) { id } }`);
      await served(servers, 'b.example.com');
      expect(pebble.orders).toBe(3);

      // A server with an empty data directory has what there is, and orders nothing.
      const three = await join(3, two);
      expect(await shown(three.tunnelHost, three.secureHostsPort, 'a.example.com')).toBe('DNS:a.example.com');
      expect((await certificateOf(three, first)).fingerprint).toBe(fingerprint);
      expect([pebble.orders, pebble.accounts]).toEqual([3, 1]);

      one.child.kill('SIGKILL');
      await one.child.exited;
      await order(three, 'c.example.com', '127.0.0.3');
      await served([two, three], 'c.example.com');
      expect([pebble.orders, pebble.accounts]).toEqual([4, 1]);

      // Of two, the one that orders is frozen, and later goes on.
      const isLeader = ({ child }: TogetherServer) => child.output.includes('a certificate was issued by ACME');
      await eventually(() => [two, three].some(isLeader), (known) => known);
      const [frozen, other] = isLeader(two) ? [two, three] : [three, two];
      frozen.child.kill('SIGSTOP');
      await order(other, 'd.example.com', other.tunnelHost);
      await served([other], 'd.example.com');
      frozen.child.kill('SIGCONT');
      await served([frozen], 'd.example.com');
      expect([pebble.orders, pebble.accounts]).toEqual([5, 1]);
      for (const { child } of [one, two, three]) expect(child.output).not.toMatch(/PRIVATE KEY/);
      await pebble.stop();
    },
    120_000,
  );

  // The file's order is that of any server's, and processes share rows as servers do: the whole way takes two more servers.
  if (!endurance) return;

  test("processes of one server share the certificate of the server's own name, and take over the files of a server with SQLite", async () => {
    const url = await postgresql.createDatabase();
    const settings = { ...await environment('processes'), ADIT_HTTP_TLS: 'acme', ADIT_PUBLIC_URL: 'https://api.example.com' };
    const hasCertificate = (port: number) => eventuallyAsync(() => shown('127.0.0.1', port, 'api.example.com'), (names) => names === 'DNS:api.example.com');
    const alone = await startServer({ environment: settings });
    await hasCertificate(alone.httpPort);
    alone.child.kill('SIGTERM');
    expect(await alone.child.exited).toMatchObject({ code: 0 });

    const { ADIT_NODE_ADDRESS: _, ...usual } = settingsOf(url, 1);
    const apiPort = await freePortRange(2);
    const processes = await startServer({
      environment: { ...usual, ...settings, ADIT_PROCESSES: '2', ADIT_PROCESS_HTTP_PORT: String(apiPort) },
      dataDir: alone.dataDir,
    });
    for (const port of [apiPort, apiPort + 1]) await hasCertificate(port);
    expect([pebble.orders, pebble.accounts]).toEqual([1, 1]);
    processes.child.kill('SIGTERM');
    expect(await processes.child.exited).toMatchObject({ code: 0 });
    await pebble.stop();
  });
});
