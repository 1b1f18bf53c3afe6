import net from 'node:net';
import process from 'node:process';
import tls from 'node:tls';
import fc from 'fast-check';
import { expect, test } from '@jest/globals';
import { measureWork } from '../../src/wire/control-budget.ts';
import { udpPeer } from '../support/udp.ts';
import { covering } from '../support/certificates.ts';
import { sized } from '../support/endurance.ts';
import { eventually } from '../support/eventually.ts';
import { damaged, noise } from '../support/fuzz/fuzz.ts';
import { frames } from '../support/fuzz/wire-input.ts';
import { httpRequests, socksDatagrams, socksDialogs, tlsHello } from '../support/fuzz/visitor-input.ts';
import { roundTrip, startEcho, visit } from '../support/target.ts';
import { fresh, openTunnel, startAgent, startEngine } from '../support/tunnel.ts';
import { hostOf } from '../support/vhost.ts';

/** Byte streams for each port. */
const STREAMS = sized(60, 5000, 300);
const AT_ONCE = 20;

/** Connects, says what it has to, at most 300 ms long, and goes: cleanly or not. */
function speak(port: number, bytes: Buffer, reset: boolean, secure: boolean): Promise<void> {
  return new Promise((resolve) => {
    const plain = net.connect({ port, host: '127.0.0.1' });
    const socket = secure
      ? tls.connect({ socket: plain, servername: 'a.p.example.com', rejectUnauthorized: false, ALPNProtocols: bytes.length % 2 === 0 ? ['h2'] : [] })
      : plain;
    const over = setTimeout(() => {
      if (reset && !secure) plain.resetAndDestroy();
      else socket.destroy();
    }, 300);
    plain.once('close', () => {
      clearTimeout(over);
      resolve();
    });
    for (const one of [plain, socket]) one.on('error', () => undefined);
    socket.on('data', () => undefined);
    socket.once(secure ? 'secureConnect' : 'connect', () =>
      socket.write(bytes, () => {
        if (!reset) socket.end();
      }));
  });
}

async function speakAll(port: number, said: readonly Buffer[], secure = false): Promise<void> {
  const waiting = said.map((bytes, index) => () => speak(port, bytes, index % 3 === 0, secure));
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await next();
  }));
}

test(`${STREAMS} hostile byte streams to each port disturb nobody, leave nothing behind, and are no error of the server's`, async () => {
  const rejected: unknown[] = [];
  const onRejection = (reason: unknown): void => {
    rejected.push(reason);
  };
  process.on('unhandledRejection', onRejection);
  const host = hostOf({ id: 1, host: '*.p.example.com', targets: [(await startEcho()).address], certificate: covering.certificate, privateKey: covering.key });
  const server = await startEngine({ stored: { hosts: [{ ...host, ...fresh }] } });
  const hosts = await server.engine.listenHosts({ host: '127.0.0.1', httpPort: 0, httpsPort: 0 });
  await startAgent(server);
  const echo = await startEcho();
  const tcp = await openTunnel(server, { targets: [echo.address] });
  const [socks5, proxy, udp] = [
    await openTunnel(server, { mode: 'socks5' }),
    await openTunnel(server, { mode: 'httpProxy' }),
    await openTunnel(server, { mode: 'udp', targets: [(await udpPeer()).address] }),
  ];

  const healthy = await visit(tcp.port);
  let rounds = 0;
  let slowest = 0;
  const stopped = new AbortController();
  const pinging = (async () => {
    while (!stopped.signal.aborted) {
      const work = measureWork();
      expect(await roundTrip(healthy, `ping ${rounds}`)).toBe(`ping ${rounds}`);
      slowest = Math.max(slowest, work());
      rounds++;
    }
  })();
  await eventually(() => rounds, (count) => count > 10);
  const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = { timers: timers(), counts: server.engine.counts };

  const hello = await tlsHello('a.p.example.com');
  const some = (input: fc.Arbitrary<Buffer>): Buffer[] => fc.sample(input, STREAMS);
  const adit = Buffer.from('ADIT\x01', 'latin1');
  await speakAll(
    server.bridge.port,
    some(damaged(fc.tuple(fc.constantFrom(adit, Buffer.alloc(0)), fc.oneof(noise, frames)).map((parts) => Buffer.concat(parts)))),
  );
  await speakAll(server.bridge.tls.port, some(damaged(fc.constant(hello))));
  await speakAll(socks5.port, some(socksDialogs));
  await speakAll(proxy.port, some(httpRequests));
  await speakAll(hosts.httpPort, some(httpRequests));
  await speakAll(hosts.httpsPort, some(damaged(fc.constant(hello))));
  await speakAll(hosts.httpsPort, some(httpRequests).slice(0, STREAMS / 3), true);
  const outsider = await udpPeer();
  for (const bytes of some(socksDatagrams)) outsider.send(bytes, udp.port);

  const seen = rounds;
  await eventually(() => rounds, (count) => count > seen);
  stopped.abort();
  await pinging;
  await eventually(() => server.engine.counts, (now) => now.handshakes === 0 && now.hostConnections === 0 && now.visitors <= 2);
  await eventually(timers, (now) => now <= before.timers + 1);
  expect(server.engine.counts.sessions).toBe(1);
  // Without the time that this process waits for a processor. Some milliseconds, most of which the hostile side uses.
  expect(slowest).toBeLessThan(1000);
  expect(rejected).toEqual([]);
  expect(server.log.entries.filter(({ level }) => level >= 50)).toEqual([]);
  process.off('unhandledRejection', onRejection);
}, 900_000);
