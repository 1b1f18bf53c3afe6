import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { rename, rm, utimes, writeFile } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import tls from 'node:tls';
import { afterEach, expect, jest, test } from '@jest/globals';
import { Acme } from '../../../src/engine/acme/acme.ts';
import type { CertificateState } from '../../../src/engine/face.ts';
import { Certificate } from '../../../src/engine/vhost/tls/certificate.ts';
import { Certificates } from '../../../src/engine/vhost/tls/certificates.ts';
import { coveredHosts } from '../../../src/engine/vhost/tls/covered-hosts.ts';
import { TicketKeys } from '../../../src/engine/vhost/tls/ticket-keys.ts';
import { covering, expired, makeCertificate, other, type TestCertificate } from '../../support/certificates.ts';
import { Handshakes } from '../../support/handshakes.ts';
import { LogRecorder } from '../../support/log-recorder.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { fresh, startEngine } from '../../support/tunnel.ts';
import { hostOf, startVhost } from '../../support/vhost.ts';

const directory = temporaryDirectory();
const [certificate, privateKey] = [path.join(directory, 'cert.pem'), path.join(directory, 'key.pem')];
const running: Handshakes[] = [];
afterEach(() => Promise.all(running.splice(0).map((load) => load.stop())));

/** Writes as certbot and others do: whole files, one after the other. */
async function put(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}

async function putPair({ certificate: cert, key }: TestCertificate): Promise<void> {
  await put(certificate, cert);
  await put(privateKey, key);
}

/** A host with the pair of files, under load, and a function that returns the state of its certificate. */
async function start(pair: TestCertificate) {
  await putPair(pair);
  const vhost = await startVhost([
    hostOf({ id: 77, host: 'a.p.example.com', certificate, privateKey }),
    hostOf({ id: 78, host: 'b.p.example.com', certificate, privateKey }),
  ]);
  const load = new Handshakes(vhost.httpsPort, 'a.p.example.com');
  running.push(load);
  const until = async (right: (state: CertificateState) => boolean): Promise<CertificateState> => {
    for (;;) {
      const state = await vhost.hosts.certificate(77);
      if (state && right(state)) return state;
      await load.next();
    }
  };
  return { ...vhost, load, until };
}

test('a pair of files is replaced under load: no handshake fails, and the new pair is in use within two seconds', async () => {
  const fresh = await makeCertificate(['*.p.example.com', 'fresh.example.com']);
  const { load, hosts } = await start(covering);
  await load.next(100);
  expect(new Set(load.seen)).toEqual(new Set(['DNS:*.p.example.com']));
  await putPair(fresh);
  const since = performance.now();
  await load.shows('fresh.example.com');
  expect(performance.now() - since).toBeLessThan(10_000); // two seconds, if no other program uses the processors
  load.clear();
  await load.next(100);
  expect(new Set(load.seen)).toEqual(new Set(['DNS:*.p.example.com, DNS:fresh.example.com']));
  expect(load.resumed).toBeGreaterThan(10);
  expect(load.failures).toEqual([]);
  for (const id of [77, 78]) {
    expect(await hosts.certificate(id)).toMatchObject({ status: 'valid', problem: '', inUse: { names: ['*.p.example.com', 'fresh.example.com'] } });
  }
});

test('an unusable pair never replaces the good one, and log and state report the reason', async () => {
  const { load, log, until } = await start(covering);
  await load.next(20);
  const broken = covering.certificate + covering.certificate.slice(0, 300);
  // In an order in which no two with the same fault follow each other, also while only the first of the two files is replaced.
  const bad: ReadonlyArray<readonly [fault: string, pair: TestCertificate]> = [
    ['unusable pair', { certificate: covering.certificate, key: other.key }],
    ['cannot parse', { certificate: other.certificate.slice(0, 300), key: other.key }],
    ['not yet valid or expired', expired],
    ['empty', { certificate: '', key: covering.key }],
    ['unusable pair', { certificate: covering.certificate, key: covering.key.slice(0, 100) }],
    ['unusable: ', { certificate: broken, key: covering.key }],
  ];
  for (const [fault, pair] of bad) {
    const from = log.entries.length;
    await putPair(pair);
    const reported = await until(({ problem }) => problem.includes(fault));
    expect(reported).toMatchObject({
      status: 'refused',
      problem: expect.stringMatching(/^the new certificate cannot be used \(.*\): the one before stays$/),
      inUse: { names: ['*.p.example.com'] },
    });
    expect(await log.line(new RegExp(`cannot be used \\(${fault}`), from)).toMatchObject({ certificate, level: 50 });
    await load.next(20);
  }
  await putPair(covering);
  await until(({ problem }) => problem === '');
  expect(new Set(load.seen)).toEqual(new Set(['DNS:*.p.example.com']));
  expect(load.failures).toEqual([]);
  expect(JSON.stringify(log.entries)).not.toMatch(/PRIVATE KEY|BEGIN/);
});

test('an engine that is asked to reload its certificates also reads files that it has read just before', async () => {
  await putPair(covering);
  const { engine } = await startEngine({ stored: { hosts: [{ ...hostOf({ id: 77, host: 'a.p.example.com', certificate, privateKey }), ...fresh }] } });
  const problem = async () => (await engine.hostCertificate(77))?.problem;
  expect(await problem()).toBe('');
  await put(privateKey, other.key);
  await engine.reloadCertificates();
  expect(await problem()).toContain('unusable pair');
});

test('what is wrong with the files is reported until they have changed', async () => {
  const log = new LogRecorder();
  const needs = { log: log.logger, now: Date.now, tickets: new TicketKeys() };
  await putPair(covering);
  const pair = new Certificate({ certificate, privateKey }, needs, () => undefined);
  const look = async () => {
    await pair.look(true);
    return pair.status.problem;
  };
  // One that is forced comes after one that is under way.
  await Promise.all([pair.look(), look()]);
  expect([await look(), log.entries.map(({ msg }) => msg)]).toEqual(['', ['a certificate is in use']]);
  await put(privateKey, other.key);
  for (let turn = 0; turn < 3; turn++) expect(await look()).toContain('the new certificate cannot be used (unusable pair');
  expect(log.entries.filter(({ level }) => level === 50).map(({ msg }) => msg)).toEqual([expect.stringContaining('(unusable pair')]);
  await put(privateKey, covering.key);
  expect([await look(), await look()]).toEqual(['', '']);
  // A replacement that is undone: the file is the one before again.
  const before = log.entries.length;
  await rename(privateKey, `${privateKey}.old`);
  expect(await look()).toContain('the new certificate cannot be used (cannot load)');
  await rename(`${privateKey}.old`, privateKey);
  expect([await look(), await look()]).toEqual(['', '']);
  expect(log.entries.slice(before + 1).map(({ level, msg }) => [level, msg])).toEqual([[30, 'the files of a certificate match the one in use again']]);
});

test('files that are written in place are read again, also if their sizes do not change', async () => {
  const pair = new Certificate({ certificate, privateKey }, { log: new LogRecorder().logger, now: Date.now, tickets: new TicketKeys() }, () => undefined);
  const used: unknown[] = [];
  for (const [at, { certificate: cert, key }] of [covering, other].entries()) {
    for (const [file, text] of [[certificate, cert], [privateKey, key]] as const) {
      await writeFile(file, text.padEnd(8192, '\n'));
      // The file system's clock may be too coarse to tell two writes apart.
      await utimes(file, at, at);
    }
    await pair.look(true);
    used.push(pair.status.facts?.description.names.join());
  }
  expect(used).toEqual(['*.p.example.com', '*.example.org']);
});

test('the file of a certificate that was ordered need not be there before, but afterwards', async () => {
  const file = path.join(directory, 'ordered.pem');
  const needs = { log: new LogRecorder().logger, now: Date.now, tickets: new TicketKeys() };
  const ordered = new Certificate({ certificate: file, privateKey: file, acmeName: 'x.p.example.com' }, needs, () => undefined);
  const problems: string[] = [];
  for (const work of [() => undefined, () => put(file, covering.key + covering.certificate), () => rm(file)]) {
    await work();
    await ordered.look(true);
    problems.push(ordered.status.problem);
  }
  expect(problems).toEqual(['', '', 'the new certificate cannot be used (cannot load): the one before stays']);
});

/** What is wrong with a pair, without what is done about it. */
function faultIn(problem: string): string {
  return /(?<=\().*(?=\))/.exec(problem)?.[0] ?? problem;
}

test('a pair of files is used if it is valid by now, of at most 64 KB each; an own pair is used even if it is not valid, when there is no other', async () => {
  let now = Date.parse('2019-12-31T23:59:59.999Z');
  const changes: string[] = [];
  const pair = new Certificate({ certificate, privateKey }, { log: new LogRecorder().logger, now: () => now, tickets: new TicketKeys() }, () => {
    changes.push(pair.status.problem);
  });
  const look = async (cert: string, key = covering.key) => {
    await putPair({ certificate: cert, key });
    await pair.look(true);
    return [pair.status.facts?.description.names.join(), faultIn(pair.status.problem)];
  };
  const [ours, others] = ['*.p.example.com', '*.example.org'];
  expect(await look(covering.certificate)).toEqual([ours, '']);
  expect(await look(other.certificate, other.key)).toEqual([ours, 'not yet valid or expired']);
  now++;
  expect(await look(other.certificate, other.key)).toEqual([others, '']);
  now = Date.parse('2120-01-01');
  expect(await look(covering.certificate)).toEqual([others, 'not yet valid or expired']);
  now--;
  expect(await look(covering.certificate)).toEqual([ours, '']);
  expect(await look(covering.certificate.padEnd(64 * 1024, '\n'))).toEqual([ours, '']);
  expect(await look(covering.certificate.padEnd(64 * 1024 + 1, '\n'))).toEqual([ours, 'cannot load']);
  expect(await look(covering.certificate.padEnd(64 * 1024, '\n'), covering.key.padEnd(64 * 1024 + 1, '\n'))).toEqual([ours, 'cannot load']);
  // Each pair in use, each new fault, and its end.
  expect(changes.map(faultIn)).toEqual([
    '',
    'not yet valid or expired',
    '',
    'not yet valid or expired',
    '',
    '',
    'cannot load',
  ]);
  const device = new Certificate(
    { certificate: '/dev/null', privateKey },
    { log: new LogRecorder().logger, now: () => now, tickets: new TicketKeys() },
    () => undefined,
  );
  await put(privateKey, covering.key);
  await device.look();
  expect(device.status).toEqual({ facts: undefined, problem: 'the certificate cannot be used: cannot load' });
});

test('whether a certificate covers a host is kept for 64 hosts of a connection; with one more, each is checked again', () => {
  const socket = new tls.TLSSocket(new net.Socket());
  const shown = jest.spyOn(socket, 'getX509Certificate').mockReturnValue(new X509Certificate(covering.certificate));
  const covers = coveredHosts('asked.example.org', socket);
  const names = Array.from({ length: 64 }, (_, n) => `${n}.p.example.com`);
  for (let round = 0; round < 2; round++) expect(['asked.example.org', ...names].every((name) => covers(name))).toBe(true);
  expect(shown).toHaveBeenCalledTimes(64);
  expect([covers('x.example.net'), covers('0.p.example.com')]).toEqual([false, true]);
  expect(shown).toHaveBeenCalledTimes(66);
  socket.destroy();
});

test('a pair that expires soon, and whose replacement is refused, is counted as both', async () => {
  let now = Date.parse('2119-01-01');
  const certificates = new Certificates(new LogRecorder().logger, () => now);
  await put(certificate, covering.certificate);
  await put(privateKey, covering.key);
  certificates.take(hostOf({ certificate, privateKey }), true);
  await certificates.lookAtAll();
  await put(privateKey, other.key);
  await certificates.lookAtAll(true);
  expect(certificates.counts).toEqual({ certificatesExpired: 0, certificatesExpiring: 0, certificatesRefused: 1 });
  now = Date.parse('2119-12-31');
  expect(certificates.counts).toEqual({ certificatesExpired: 0, certificatesExpiring: 1, certificatesRefused: 1 });
});

test('hosts share a pair until the last of them has another; each pair that expires soon, has expired or is refused is counted, and reported once', async () => {
  const log = new LogRecorder();
  let now = Date.parse('2119-01-01');
  const certificates = new Certificates(log.logger, () => now);
  const take = (cert: TestCertificate, more = '') => {
    const taken = certificates.take(hostOf({ certificate: cert.certificate + more, privateKey: cert.key + more }), true);
    if (!taken) throw new Error('the host has a certificate');
    return taken;
  };
  // Line ends make them different pairs.
  const soon = [take(covering), take(covering, '\n'), take(other)];
  const late = [take(expired), take(expired, '\n')];
  const refused = [certificates.take(hostOf({ certificate, privateKey: '/nowhere' }), true)];
  expect([take(covering), certificates.take(hostOf({ certificate, privateKey: '/elsewhere' }), true)].map((one) => [...soon, ...refused].indexOf(one))).toEqual(
    [0, -1],
  );
  const counts = () => Object.values(certificates.counts);
  await certificates.lookAtAll();
  expect(certificates.counts).toEqual({ certificatesExpired: 2, certificatesExpiring: 0, certificatesRefused: 2 });
  const reported: Certificate[] = [];
  certificates.onChange = (one) => reported.push(one);
  const from = log.entries.length;
  now = Date.parse('2119-12-31');
  for (let round = 0; round < 2; round++) await certificates.lookAtAll();
  expect([reported, counts()]).toEqual([soon, [2, 3, 2]]);
  expect(log.entries.slice(from).map(({ msg, level }) => [msg, level])).toEqual(soon.map(() => ['a certificate expires soon', 40]));
  now = Date.parse('2120-01-01');
  for (let round = 0; round < 2; round++) await certificates.lookAtAll();
  expect([reported.slice(3), counts()]).toEqual([soon, [5, 0, 2]]);
  expect(log.entries.slice(from + 3).map(({ msg, level }) => [msg, level])).toEqual(soon.map(() => ['a certificate has expired', 40]));
  for (const one of late) certificates.release(one);
  const [first] = soon;
  if (first) certificates.release(first);
  expect(counts()).toEqual([3, 0, 2]);
  if (first) certificates.release(first);
  expect(counts()).toEqual([2, 0, 2]);
  expect(take(covering)).not.toBe(first);
});

test('a name is ordered for the client of the first host that has it, until the last one is gone; that of the server itself for ever', () => {
  const acme = new Acme({ directory: 'https://127.0.0.1:1/dir', email: '', dir: '/nowhere', write: () => undefined }, new LogRecorder().logger, Date.now);
  const [want, unwant] = [jest.spyOn(acme, 'want').mockReturnValue(), jest.spyOn(acme, 'unwant').mockReturnValue()];
  const certificates = new Certificates(new LogRecorder().logger, Date.now, acme, 'own.example.org');
  const taken = [['own', 3], ['a', 5], ['a', 6]].map(([name, clientId]) =>
    certificates.take(hostOf({ host: `${name}.example.org`, acme: true, clientId: Number(clientId) }), true)
  );
  expect(want.mock.calls).toEqual([['own.example.org', 0], ['a.example.org', 5]]);
  const unwanted = taken.map((certificate) => {
    if (certificate) certificates.release(certificate);
    return unwant.mock.calls.flat();
  });
  expect(unwanted).toEqual([[], [], ['a.example.org']]);
  // None is ordered for a host that asks for none, is stopped, has a pair of its own or half of one, is not served over HTTPS, or has no name.
  const without = [{ acme: false }, { enabled: false }, { certificate: 'x' }, { privateKey: 'x' }, { scheme: 'http' }, { host: '192.0.2.1' }] as const;
  for (const settings of without) {
    expect([settings, certificates.take(hostOf({ host: 'b.example.org', acme: true, ...settings }), true)]).toEqual([settings, undefined]);
  }
  expect(certificates.take(hostOf({ host: 'b.example.org', acme: true }), false)).toBeUndefined();
  expect(want).toHaveBeenCalledTimes(2);
});

/** Whether a session that began with one context is resumed with another. */
async function resumes(...contexts: Array<tls.SecureContext | undefined>): Promise<boolean> {
  const server = net.createServer((socket) => new tls.TLSSocket(socket, { isServer: true, secureContext: contexts.shift() }).end('x')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  let session: Buffer | undefined;
  let resumed = false;
  while (contexts.length > 0) {
    const socket = tls.connect({ port: address.port, host: '127.0.0.1', rejectUnauthorized: false, session });
    socket.on('session', (given: Buffer) => {
      session = given;
    });
    socket.on('secureConnect', () => {
      resumed = socket.isSessionReused();
    });
    socket.resume();
    await once(socket, 'close');
  }
  server.close();
  return resumed;
}

test('the keys of session tickets depend on the secret and on the certificate; new keys hold from the next handshake on', async () => {
  const [tickets, same] = [new TicketKeys(), new TicketKeys()];
  const own = tickets.keyFor('AA');
  expect([own.length, own.equals(tickets.keyFor('AA')), own.equals(tickets.keyFor('BB')), own.equals(same.keyFor('AA'))]).toEqual([48, true, false, false]);
  const pair = new Certificate(
    { certificate: covering.certificate, privateKey: covering.key },
    { log: new LogRecorder().logger, now: Date.now, tickets },
    () => undefined,
  );
  const first = await pair.context();
  expect(await pair.context()).toBe(first);
  const { version } = tickets;
  for (const keys of [tickets, same]) keys.use(Buffer.alloc(32, 1));
  expect([tickets.version === version, tickets.keyFor('AA').equals(own), tickets.keyFor('AA').equals(same.keyFor('AA'))]).toEqual([false, false, true]);
  const second = await pair.context();
  expect(second).not.toBe(first);
  tickets.use(Buffer.alloc(32, 1));
  expect(await pair.context()).toBe(second);
  // Another server with the secret resumes sessions of the same certificate only.
  const atAnother = ({ certificate: text, key }: TestCertificate) =>
    new Certificate({ certificate: text, privateKey: key }, { log: new LogRecorder().logger, now: Date.now, tickets: same }, () => undefined).context();
  expect([await resumes(second, await atAnother(covering)), await resumes(second, await atAnother(other))]).toEqual([true, false]);
});

test('all certificates are looked at when the server starts, and every 30 seconds until it stops', () => {
  jest.useFakeTimers();
  try {
    const certificates = new Certificates(new LogRecorder().logger);
    const look = jest.spyOn(certificates, 'lookAtAll').mockResolvedValue();
    certificates.start();
    expect(look).toHaveBeenCalledTimes(1);
    jest.advanceTimersByTime(89_999);
    expect(look).toHaveBeenCalledTimes(3);
    certificates.stop();
    jest.advanceTimersByTime(60_000);
    expect(look).toHaveBeenCalledTimes(3);
  } finally {
    jest.useRealTimers();
  }
});

test('while only one of the two files is replaced the old pair serves; then the new one does', async () => {
  const fresh = await makeCertificate(['*.p.example.com', 'fresh.example.com']);
  const { load, until } = await start(covering);
  await load.next(20);
  await put(certificate, fresh.certificate);
  expect(await until(({ problem }) => problem !== '')).toMatchObject({ status: 'refused', inUse: { names: ['*.p.example.com'] } });
  await load.next(20);
  expect(new Set(load.seen)).toEqual(new Set(['DNS:*.p.example.com']));
  await put(privateKey, fresh.key);
  const since = performance.now();
  await load.shows('fresh.example.com');
  expect(performance.now() - since).toBeLessThan(10_000); // two seconds, if no other program uses the processors
  expect(load.failures).toEqual([]);
});

test('the description of a certificate, and its status for a host', async () => {
  const soon = await makeCertificate(['*.p.example.com', '192.0.2.1'], { to: new Date(Date.now() + 10 * 86_400_000) });
  const text = (pair: TestCertificate) => ({ certificate: pair.certificate, privateKey: pair.key });
  const { hosts } = await startVhost([
    hostOf({ id: 1, host: '*.p.example.com', ...text(covering) }),
    hostOf({ id: 2, host: 'a.p.example.com', ...text(soon) }),
    hostOf({ id: 3, host: 'b.p.example.com', ...text(expired) }),
    hostOf({ id: 4, host: 'p.example.com', ...text(covering) }),
    hostOf({ id: 5, host: 'c.p.example.com', certificate: '/nowhere', privateKey: '/nowhere' }),
    hostOf({ id: 6, host: 'd.p.example.com' }),
    hostOf({ id: 7, host: 'e.p.example.com', scheme: 'http', ...text(covering) }),
    hostOf({ id: 8, host: '*.p.example.com', location: '/other' }),
  ]);
  expect(await hosts.certificate(1)).toEqual({
    status: 'valid',
    problem: '',
    acme: null,
    inUse: {
      names: ['*.p.example.com'],
      issuer: 'adit test',
      validFrom: new Date('2020-01-01'),
      validTo: new Date('2120-01-01'),
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
    },
  });
  expect(await hosts.certificate(1, 'deep.below.p.example.com')).toMatchObject({ status: 'notCovered' });
  expect(await hosts.certificate(2)).toMatchObject({ status: 'expiring' });
  expect(await hosts.certificate(3)).toMatchObject({ status: 'expired', inUse: { validTo: new Date('2020-01-01') } });
  expect(await hosts.certificate(4)).toMatchObject({ status: 'notCovered' });
  expect(await hosts.certificate(5)).toMatchObject({ status: 'missing', problem: 'the certificate cannot be used: cannot load', inUse: null });
  for (const id of [6, 7, 99]) expect(await hosts.certificate(id)).toBeUndefined();
  expect(await hosts.certificate(8)).toMatchObject({ status: 'valid' });
});
