import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import tls from 'node:tls';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { AcmeTiming } from '../../../src/engine/acme/acme-timing.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import type { CertificateState, WantedHost } from '../../../src/engine/face.ts';
import { writePrivately } from '../../../src/settings/private-file.ts';
import { endChildren } from '../../support/child.ts';
import { isShort } from '../../support/endurance.ts';
import { freePortRange } from '../../support/free-port.ts';
import { Handshakes } from '../../support/handshakes.ts';
import { Pebble } from '../../support/pebble.ts';
import { describeWith } from '../../support/programs.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { startEngine } from '../../support/tunnel.ts';
import { exchange, hostOf } from '../../support/vhost.ts';

const MINUTE = 60_000;

describeWith(['pebble', 'pebble-challtestsrv'], 'certificates by ACME', () => {
  const directory = temporaryDirectory();
  let httpPort: number;
  let pebble: Pebble;
  let dirs = 0;
  /** The engine's time in ms, ahead of the real one. */
  let ahead = 0;
  const now = () => Date.now() + ahead;

  beforeAll(async () => {
    httpPort = await freePortRange(1);
    pebble = await Pebble.start(path.join(directory, 'pebble'), httpPort);
  });
  afterAll(endChildren);

  const newDir = () => path.join(directory, String(++dirs));

  /** An engine that orders at pebble, with these hosts; they ask for certificates by default. */
  async function start(
    hosts: readonly Partial<WantedHost>[],
    { dir = newDir(), timing = {}, off = false }: { readonly dir?: string; readonly timing?: Partial<AcmeTiming>; readonly off?: boolean } = {},
  ) {
    const acme = { directory: pebble.directory, email: 'somebody@example.com', ca: pebble.ca, dir, write: writePrivately, timing: { lookMs: 20, ...timing } };
    const stored = hosts.map((host) => ({ ...hostOf({ acme: true, ...host }), inletBytes: 0, exportBytes: 0 }));
    const { engine, log } = await startEngine({ now, stored: { hosts: stored }, ...(!off && { acme }) });
    const { httpsPort } = await engine.listenHosts({ host: '127.0.0.1', httpPort, httpsPort: 0 });
    return { engine, log, dir, httpsPort };
  }

  /** Resolves when the certificate of a host stands as it should. */
  function until(engine: Engine, id: number, right: (state: CertificateState) => boolean): Promise<CertificateState> {
    return new Promise((resolve, reject) => {
      const look = async (): Promise<void> => {
        const state = await engine.hostCertificate(id);
        if (!state || !right(state)) return;
        stop();
        resolve(state);
      };
      const stop = engine.watch((event) => {
        if (event.kind === 'host' && event.id === id) look().catch(reject);
      });
      look().catch(reject);
    });
  }

  const issued = ({ acme }: CertificateState) => acme?.status === 'valid';
  const failed = ({ acme }: CertificateState) => acme?.status === 'failed';

  /** The fingerprint that a handshake shows; it is believed only if the name fits. */
  async function shown(httpsPort: number, servername: string): Promise<string> {
    const socket = tls.connect({ port: httpsPort, host: '127.0.0.1', servername, rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const { fingerprint256, subjectaltname } = socket.getPeerCertificate();
    socket.destroy();
    expect(subjectaltname).toBe(`DNS:${servername}`);
    return fingerprint256.replaceAll(':', '').toLowerCase();
  }

  const ask = (host: string, target: string) => exchange(httpPort, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);

  test('a host that asks for one gets a certificate without its agent, is served with it, and keeps it over a restart', async () => {
    const { engine, log, dir, httpsPort } = await start([{ id: 1, host: 'a.example.com' }, { id: 2, host: 'a.example.com', location: '/other' }]);
    const orders = pebble.orders;
    const state = await until(engine, 1, issued);
    expect(state).toMatchObject({
      status: 'valid',
      problem: '',
      inUse: { names: ['a.example.com'], issuer: expect.stringMatching(/^Pebble Intermediate/) },
      acme: { status: 'valid', problem: '' },
    });
    const { validFrom, validTo, fingerprint } = state.inUse ?? { validFrom: new Date(), validTo: new Date() };
    expect(state.acme?.nextAt).toBe(validFrom.getTime() + (validTo.getTime() - validFrom.getTime()) * 2 / 3);
    expect(await shown(httpsPort, 'a.example.com')).toBe(fingerprint);
    expect(await engine.hostCertificate(2)).toMatchObject({ inUse: { fingerprint } });
    expect(pebble.orders - orders).toBe(1);
    await engine.close();

    const kept = readdirSync(dir, { recursive: true, encoding: 'utf8' }).toSorted();
    expect(kept.map((file) => path.basename(file))).toEqual([expect.stringMatching(/^localhost-[0-9a-f]{8}$/), 'a.example.com.pem', 'account.json']);
    for (const file of ['.', ...kept]) expect([file, statSync(path.join(dir, file)).mode & 0o777]).toEqual([file, /\.(pem|json)$/.test(file) ? 0o600 : 0o700]);
    expect(JSON.stringify(log.entries)).not.toMatch(/PRIVATE KEY/);

    const accounts = pebble.accounts;
    const again = await start([{ id: 1, host: 'a.example.com' }, { id: 3, host: 'b.example.com' }], { dir });
    await until(again.engine, 3, issued);
    expect(await shown(again.httpsPort, 'a.example.com')).toBe(fingerprint);
    expect([pebble.orders - orders, pebble.accounts - accounts]).toEqual([2, 0]);
  });

  test('challenges are answered for a name while its order is under way, and for nobody else', async () => {
    const seen: string[] = [];
    // In the way of the authority: it sees this before it asks for the answer.
    const gate = net.createServer((socket) => {
      socket.once('data', (data: Buffer) => {
        const [, target = ''] = /^GET (\S+)/.exec(data.toString('latin1')) ?? [];
        void Promise.all([ask('c.example.com', target), ask('d.example.com', target), ask('c.example.com', `${target}x`)]).then((answers) => {
          seen.push(...answers, target);
          socket.end(answers[0]);
        });
      });
    }).listen(httpPort, '127.0.0.9');
    await once(gate, 'listening');
    await pebble.lead('c.example.com', '127.0.0.9');
    const { engine } = await start([{ id: 1, host: 'c.example.com' }, { id: 2, host: 'd.example.com', acme: false }]);
    await until(engine, 1, issued);
    gate.close();
    const [right = '', other, wrong, target = ''] = seen;
    expect(right).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    expect(right).toContain(`${path.posix.basename(target)}.`);
    for (const answer of [other, wrong, await ask('c.example.com', target)]) expect(answer).toMatch(/^HTTP\/1.1 503 /);
  });

  if (!isShort) {
    test('at two thirds of its lifetime it is renewed under load, and no handshake fails', async () => {
      const { engine, httpsPort } = await start([{ id: 1, host: 'e.example.com' }]);
      const { inUse, acme } = await until(engine, 1, issued);
      const load = new Handshakes(httpsPort, 'e.example.com');
      await load.next(20);
      const orders = pebble.orders;
      ahead = Number(acme?.nextAt) - Date.now() - 3000;
      await load.next(20);
      expect(pebble.orders).toBe(orders);
      ahead += 3000;
      const renewed = await until(engine, 1, (state) => state.inUse !== null && state.inUse.fingerprint !== inUse?.fingerprint && issued(state));
      expect(await shown(httpsPort, 'e.example.com')).toBe(renewed.inUse?.fingerprint);
      await load.next(20);
      await load.stop();
      expect(load.failures).toEqual([]);
      ahead = 0;
    });
  }

  test("a name that points elsewhere fails with the authority's error, is retried with backoff, also after a restart, and succeeds once fixed", async () => {
    await pebble.lead('f.example.com', '127.0.0.8');
    const { engine, log, dir, httpsPort } = await start([{ id: 1, host: 'f.example.com' }]);
    const before = now();
    const first = await until(engine, 1, failed);
    expect(first).toMatchObject({ status: 'missing', inUse: null, acme: { problem: expect.stringMatching(/127\.0\.0\.8.*refused/) } });
    const waits = (state: CertificateState, from: number) => (Number(state.acme?.nextAt) - from) / MINUTE;
    expect(waits(first, before)).toBeGreaterThanOrEqual(5);
    expect(waits(first, before)).toBeLessThan(7);
    expect(Number(first.acme?.lastAt)).toBeGreaterThanOrEqual(before);
    expect(await log.line(/^no ACME certificate: .*refused/)).toMatchObject({ name: 'f.example.com', failures: 1 });
    await expect(shown(httpsPort, 'f.example.com')).rejects.toThrow(/handshake failure/);
    await engine.close();

    const orders = pebble.orders;
    const again = await start([{ id: 1, host: 'f.example.com' }], { dir });
    const recalled = await until(again.engine, 1, failed);
    expect(recalled.acme).toEqual(first.acme);
    expect(pebble.orders).toBe(orders);
    ahead = Number(first.acme?.nextAt) - Date.now();
    const since = now();
    const second = await until(again.engine, 1, (state) => failed(state) && state.acme?.nextAt !== first.acme?.nextAt);
    expect(waits(second, since)).toBeGreaterThanOrEqual(10);
    await pebble.lead('f.example.com', '127.0.0.1');
    ahead = Number(second.acme?.nextAt) - Date.now();
    expect(await until(again.engine, 1, issued)).toMatchObject({ status: 'valid', acme: { problem: '' } });
    ahead = 0;
  });

  if (!isShort) {
    test('a failed order is attempted at once on request, a few times per hour, also if its host was stopped in between', async () => {
      await pebble.lead('q.example.com', '127.0.0.8');
      const { engine } = await start([{ id: 1, host: 'q.example.com' }, { id: 2, host: 'r.example.com', acme: false }]);
      expect((await until(engine, 1, failed)).acme).toMatchObject({ failures: 1 });
      for (const failures of [2, 3]) {
        expect(await engine.records.hosts.retryAcme(1)).toEqual({ kind: 'started' });
        await until(engine, 1, (state) => failed(state) && state.acme?.failures === failures);
      }
      await engine.apply({ kind: 'host', host: hostOf({ id: 1, host: 'q.example.com', acme: true, enabled: false }) });
      await engine.apply({ kind: 'host', host: hostOf({ id: 1, host: 'q.example.com', acme: true }) });
      await until(engine, 1, failed);
      const from = now();
      await pebble.lead('q.example.com', '127.0.0.1');
      expect(await engine.records.hosts.retryAcme(1)).toEqual({ kind: 'started' });
      await until(engine, 1, issued);
      // There is nothing to retry where nothing failed, without ACME, and without such a host.
      expect(await Promise.all([1, 2, 9].map((id) => engine.records.hosts.retryAcme(id)))).toEqual(Array.from({ length: 3 }, () => ({ kind: 'notFailed' })));

      await pebble.lead('s.example.com', '127.0.0.8');
      await engine.apply({ kind: 'host', host: hostOf({ id: 3, host: 's.example.com', acme: true }) });
      await until(engine, 3, failed);
      for (const failures of [2, 3, 4]) {
        expect(await engine.records.hosts.retryAcme(3)).toEqual({ kind: 'started' });
        await until(engine, 3, (state) => failed(state) && state.acme?.failures === failures);
      }
      const refused = await engine.records.hosts.retryAcme(3);
      expect(refused).toEqual({ kind: 'later', at: expect.any(Number) });
      expect(refused.kind === 'later' && refused.at).toBeGreaterThan(from);
      ahead = 61 * MINUTE;
      expect(await engine.records.hosts.retryAcme(3)).toEqual({ kind: 'started' });
      ahead = 0;
    });
  }

  if (!isShort) {
    test('an unavailable authority is retried; if it has forgotten the account, a new one is created', async () => {
      const { engine } = await start([]);
      await engine.apply({ kind: 'host', host: hostOf({ id: 1, host: 'g.example.com', acme: true }) });
      await until(engine, 1, issued);
      await pebble.suspend();
      await engine.apply({ kind: 'host', host: hostOf({ id: 2, host: 'h.example.com', acme: true }) });
      const down = await until(engine, 2, failed);
      expect(down.acme?.problem).toMatch(/^the certificate authority cannot be reached: .*ECONNREFUSED/);
      await pebble.resume();
      ahead = Number(down.acme?.nextAt) - Date.now();
      const forgotten = await until(engine, 2, (state) => failed(state) && state.acme?.nextAt !== down.acme?.nextAt);
      expect(forgotten.acme?.problem).toMatch(/account/);
      ahead = Number(forgotten.acme?.nextAt) - Date.now();
      await until(engine, 2, issued);
      expect(await engine.hostCertificate(1)).toMatchObject({ status: 'valid' });
      ahead = 0;
    });
  }

  if (!isShort) {
    test('an order is canceled if its host is deleted, renamed or disabled meanwhile', async () => {
      let reached: () => void = () => undefined;
      const hole = net.createServer(() => reached()).listen(httpPort, '127.0.0.7');
      await once(hole, 'listening');
      const { engine, log, dir } = await start([]);
      const host = (name: string, more: Partial<WantedHost> = {}) => hostOf({ id: 1, host: name, acme: true, ...more });
      for (
        const [name, change] of [
          ['i.example.com', { kind: 'hostRemoved', id: 1 }],
          ['j.example.com', { kind: 'host', host: host('k.example.com') }],
          ['l.example.com', { kind: 'host', host: host('l.example.com', { acme: false }) }],
        ] as const
      ) {
        await pebble.lead(name, '127.0.0.7');
        const asked = new Promise<void>((resolve) => {
          reached = resolve;
        });
        await engine.apply({ kind: 'host', host: host(name) });
        await asked;
        expect(await engine.hostCertificate(1)).toMatchObject({ status: 'missing', acme: { status: 'pending', nextAt: null } });
        await engine.apply(change);
        if (name === 'j.example.com') expect(await until(engine, 1, issued)).toMatchObject({ inUse: { names: ['k.example.com'] } });
        else expect(await engine.hostCertificate(1)).toBeUndefined();
      }
      hole.close();
      await engine.close();
      expect(log.entries.filter(({ msg }) => /no certificate by ACME/.test(msg))).toEqual([]);
      const files = readdirSync(dir, { recursive: true, encoding: 'utf8' }).map((file) => path.basename(file));
      expect(files).toContain('k.example.com.pem');
      for (const name of ['i', 'j', 'l']) expect(files).not.toContain(`${name}.example.com.pem`);
    });
  }

  if (!isShort) {
    test('the number of concurrent orders and of orders per hour is limited; names that failed before come last', async () => {
      const names = ['m', 'n', 'o'].map((name, index) => ({ id: index + 1, host: `${name}.example.com` }));
      const dir = newDir();
      await pebble.lead('m.example.com', '127.0.0.8');
      const first = await start([{ id: 1, host: 'm.example.com' }], { dir });
      const { acme } = await until(first.engine, 1, failed);
      await first.engine.close();
      ahead = Number(acme?.nextAt) - Date.now();
      const orders = pebble.orders;
      const { engine } = await start(names, { dir, timing: { atOnce: 1, perHour: 2 } });
      await Promise.all([until(engine, 2, issued), until(engine, 3, issued)]);
      expect(await engine.hostCertificate(1)).toMatchObject({ acme: { status: 'failed' } });
      expect(pebble.orders - orders).toBe(2);
      await pebble.lead('m.example.com', '127.0.0.1');
      ahead += 61 * MINUTE;
      await until(engine, 1, issued);
      expect(pebble.orders - orders).toBe(3);
      ahead = 0;
    });
  }

  test('only names that are served over https and have no certificate of their own are ordered', async () => {
    const orders = pebble.orders;
    const { engine } = await start([
      { id: 1, host: '*.p.example.com' },
      { id: 2, host: '192.0.2.1' },
      { id: 3, host: 'q.example.com', scheme: 'http' },
      { id: 4, host: 'r.example.com', enabled: false },
      { id: 5, host: 's.example.com', certificate: '/nowhere.pem', privateKey: '/nowhere.pem' },
      { id: 6, host: 't.example.com', acme: false },
      { id: 7, host: 'localhost' },
      { id: 8, host: 'u.example.com', scheme: 'https' },
    ]);
    await until(engine, 8, issued);
    for (const id of [1, 2, 3, 4, 6, 7]) expect(await engine.hostCertificate(id)).toBeUndefined();
    expect(await engine.hostCertificate(5)).toMatchObject({ status: 'missing', acme: null });
    expect(pebble.orders - orders).toBe(1);
    await engine.close();
    const off = await start([{ id: 1, host: 'u.example.com' }], { off: true });
    expect(await off.engine.hostCertificate(1)).toBeUndefined();
  });

  test('if the disk is full the order fails, and the server keeps running', async () => {
    const acme = {
      directory: pebble.directory,
      email: '',
      ca: pebble.ca,
      dir: newDir(),
      write: () => {
        throw new Error('no space left');
      },
    };
    const { engine, log } = await startEngine({
      acme,
      stored: { hosts: [{ ...hostOf({ id: 1, host: 'x.example.com', acme: true }), inletBytes: 0, exportBytes: 0 }] },
    });
    await engine.listenHosts({ host: '127.0.0.1', httpPort, httpsPort: 0 });
    expect(await until(engine, 1, failed)).toMatchObject({ status: 'missing', acme: { problem: 'no space left' } });
    expect(await log.line(/could not be stored/)).toMatchObject({ name: 'x.example.com' });
  });

  test('stored files are only used if they are valid', async () => {
    const dir = newDir();
    const { engine } = await start([{ id: 1, host: 'v.example.com' }], { dir });
    const { inUse } = await until(engine, 1, issued);
    await engine.close();
    const [own = ''] = readdirSync(dir);
    const file = path.join(dir, own, 'v.example.com.pem');
    writePrivately(path.join(dir, own, 'w.example.com.pem'), readFileSync(file, 'utf8'));
    writePrivately(file, readFileSync(file, 'utf8').slice(0, 400));
    writePrivately(path.join(dir, own, 'account.json'), '{');
    const again = await start([{ id: 1, host: 'v.example.com' }, { id: 2, host: 'w.example.com' }], { dir });
    for (const id of [1, 2]) {
      const state = await until(again.engine, id, (now) => issued(now) && now.status === 'valid');
      expect(state.inUse?.fingerprint).not.toBe(inUse?.fingerprint);
    }
  });
});
