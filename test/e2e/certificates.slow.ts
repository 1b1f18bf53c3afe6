import { rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { covering, makeCertificate, other, type TestCertificate } from '../support/certificates.ts';
import { endChildren } from '../support/child.ts';
import { eventuallyAsync } from '../support/eventually.ts';
import { Handshakes } from '../support/handshakes.ts';
import { freePortRange } from '../support/free-port.ts';
import { Pebble } from '../support/pebble.ts';
import { call, signedNow, startServer, write, type ServerProcess } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { removeScratchDirectories } from '../support/scratch.ts';
import { subscribe } from '../support/sse.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

// Short form: test/e2e/certificates.test.ts

const directory = temporaryDirectory();
afterEach(endChildren);
afterAll(removeScratchDirectories);
const search = () => {
  const { auth_key: key, timestamp } = signedNow();
  return `auth_key=${key}&timestamp=${timestamp}`;
};

/** The result of a GraphQL operation by an administrator. */
async function graphql(server: ServerProcess, query: string, variables: object = {}): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${server.httpPort}/graphql?${search()}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = z.object({ data: z.unknown(), errors: z.unknown().optional() }).parse(await response.json());
  if (errors !== undefined) throw new Error(JSON.stringify(errors));
  return data;
}

async function metric(server: ServerProcess, name: string): Promise<number> {
  const { auth_key: key, timestamp } = signedNow();
  const response = await fetch(`http://127.0.0.1:${server.httpPort}/metrics`, {
    headers: { 'x-adit-auth-key': key, 'x-adit-timestamp': String(timestamp), connection: 'close' },
  });
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(await response.text())?.[1]);
}

test('the certificate of a platform domain is replaced under load; a bad pair is refused, and log, API, diagnosis and metrics report it', async () => {
  const server = await startServer();
  const [CertFilePath, KeyFilePath] = [path.join(directory, 'cert.pem'), path.join(directory, 'key.pem')];
  const put = async ({ certificate, key }: TestCertificate): Promise<void> => {
    for (const [file, text] of [[CertFilePath, certificate], [KeyFilePath, key]] as const) {
      await writeFile(`${file}.new`, text);
      await rename(`${file}.new`, file);
    }
  };
  await put(covering);
  const fresh = await makeCertificate(['*.p.example.com', 'fresh.example.com']);
  const clientId = await write(server, '/client/add/', { remark: 'c' });
  expect(await call(server, '/global/save/', { platform_domains: JSON.stringify([{ ID: 'p', Wildcard: '*.p.example.com', CertFilePath, KeyFilePath }]) }))
    .toMatchObject({ status: 1 });
  const id = await write(server, '/index/addhost/', {
    client_id: clientId,
    domain_mode: 'platform',
    platform_domain_id: 'p',
    platform_prefix: 'shop',
    scheme: 'https',
    target: '127.0.0.1:1',
  });
  const load = new Handshakes(server.secureHostsPort, 'shop.p.example.com');
  await load.next(50);
  await put(fresh);
  const since = performance.now();
  await load.shows('fresh.example.com');
  expect(performance.now() - since).toBeLessThan(2000);

  const events = await subscribe(
    { url: `http://127.0.0.1:${server.httpPort}` },
    'subscription { hostChanged { id host { certificate { status } } } }',
    {},
    {},
    search(),
  );
  await put({ certificate: fresh.certificate, key: other.key });
  await server.child.says(/the new certificate cannot be used \(unusable pair\): the one before stays/);
  const hears = async (status: string) => {
    while (!JSON.stringify(await events.next() ?? 'the end').includes(`"status":"${status}"`));
  };
  await hears('REFUSED');
  const problem = 'the new certificate cannot be used (unusable pair): the one before stays';
  expect(
    await graphql(
      server,
      `query ($id: ID!) {
    host(id: $id) { certificate { origin status problem names daysRemaining } }
    platformDomains { certificate { status } certificateInUse { status problem names } }
  }`,
      { id },
    ),
  ).toMatchObject({
    host: { certificate: { origin: 'PLATFORM', status: 'REFUSED', problem, names: ['*.p.example.com', 'fresh.example.com'], daysRemaining: 364 } },
    platformDomains: [{
      certificate: { status: 'CANNOT_LOAD' },
      certificateInUse: { status: 'REFUSED', problem, names: ['*.p.example.com', 'fresh.example.com'] },
    }],
  });
  expect(await call(server, '/index/hostdiagnose/', { host: 'shop.p.example.com', path: '/', scheme: 'https' })).toMatchObject({
    data: { matched: true, reason: problem },
  });
  expect(await metric(server, 'adit_certificates_refused')).toBe(1);
  load.clear();
  await load.next(50);
  expect(new Set(load.seen)).toEqual(new Set(['DNS:*.p.example.com, DNS:fresh.example.com']));
  await put(covering);
  await hears('VALID');
  await load.stop();
  expect(load.failures).toEqual([]);
  events.stop();
  expect(server.child.output).not.toMatch(/PRIVATE KEY/);
});

describeWith(['pebble', 'pebble-challtestsrv'], 'a server with ACME', () => {
  test('gets a certificate for a host, notifies subscribers, keeps the certificate over a restart, and passes TLS through when ACME is off', async () => {
    const httpPort = await freePortRange(1);
    const pebble = await Pebble.start(path.join(directory, 'pebble'), httpPort);
    const environment = { ADIT_VHOST_HTTP_PORT: String(httpPort), ADIT_ACME: 'true', ADIT_ACME_DIRECTORY: pebble.directory, ADIT_ACME_CA: pebble.caFile };
    const server = await startServer({ environment });
    const clientId = await write(server, '/client/add/', { remark: 'c' });
    const events = await subscribe(
      { url: `http://127.0.0.1:${server.httpPort}` },
      'subscription { hostChanged { host { certificate { status acme { status problem nextAttemptAt } } } } }',
      {},
      {},
      search(),
    );
    await pebble.lead('shop.example.com', '127.0.0.8');
    const fields = 'id acme certificate { origin status problem fingerprint names acme { status problem nextAttemptAt } }';
    expect(
      await graphql(server, `mutation ($input: CreateHostInput!) { createHost(input: $input) { ${fields} } }`, {
        input: { clientId, host: 'shop.example.com', scheme: 'HTTPS', targets: ['127.0.0.1:1'], acme: true },
      }),
    ).toMatchObject({
      createHost: { id: '1', acme: true, certificate: { origin: 'ACME', status: 'MISSING', problem: null, fingerprint: null, names: [] } },
    });
    let event = '';
    while (!event.includes('FAILED')) event = JSON.stringify(await events.next());
    expect(event).toMatch(/refused/);
    expect(await call(server, '/index/hostdiagnose/', { host: 'shop.example.com', path: '/', scheme: 'https' })).toMatchObject({
      data: { reason: expect.stringMatching(/no usable certificate; .*refused/) },
    });
    // Another name is a new order, which does not wait for the retry of the failed one.
    await graphql(server, 'mutation { updateHost(id: 1, input: { host: "store.example.com" }) { id } }');
    while (!event.includes('"status":"VALID","acme":{"status":"VALID"')) event = JSON.stringify(await events.next());
    events.stop();
    const own = async (of: ServerProcess) =>
      z.object({ host: z.object({ certificate: z.record(z.string(), z.unknown()) }) }).parse(await graphql(of, `{ host(id: 1) { ${fields} } }`)).host
        .certificate;
    const { fingerprint } = await own(server);
    const orders = pebble.orders;
    server.child.kill('SIGTERM');
    expect(await server.child.exited).toMatchObject({ code: 0 });

    const again = await startServer({ environment, dataDir: server.dataDir });
    expect(await eventuallyAsync(() => own(again), ({ acme }) => JSON.stringify(acme).includes('VALID'))).toMatchObject({
      origin: 'ACME',
      status: 'VALID',
      fingerprint,
      names: ['store.example.com'],
    });
    const load = new Handshakes(again.secureHostsPort, 'store.example.com');
    await load.next(5);
    await load.stop();
    expect([new Set(load.seen), load.failures, pebble.orders]).toEqual([new Set(['DNS:store.example.com']), [], orders]);
    await again.child.end();

    const off = await startServer({ dataDir: server.dataDir });
    expect(await own(off)).toMatchObject({
      origin: 'NONE',
      status: 'NONE',
      problem: 'this server gets no certificates by ACME: its settings have it off',
      acme: null,
    });
    await pebble.stop();
  });
});
