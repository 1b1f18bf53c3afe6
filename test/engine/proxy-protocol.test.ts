import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { Child, endChildren } from '../support/child.ts';
import { eventually, eventuallyAsync } from '../support/eventually.ts';
import { programPath } from '../support/find-program.ts';
import { freePort } from '../support/free-port.ts';
import { describeWith, describeWithIpv6 } from '../support/programs.ts';
import { removeScratchDirectories, scratchDirectory } from '../support/scratch.ts';
import { readAll, refusal, startTarget, visit } from '../support/target.ts';
import { openTunnel, startAgent, startEngine } from '../support/tunnel.ts';
import { startVisitor } from '../support/visitor.ts';

afterEach(endChildren);
afterAll(removeScratchDirectories);

const SIGNATURE = '0d0a0d0a000d0a515549540a';

/** A target that says what it got, once the visitor has ended. */
const mirror = () =>
  startTarget(async (socket) => {
    socket.end(await readAll(socket));
  });

/** What a target gets of a visitor that says "hello". */
async function received(port: number, host?: string): Promise<{ readonly bytes: Buffer; readonly visitorPort: number }> {
  const visitor = await visit(port, host);
  const visitorPort = visitor.localPort ?? 0;
  visitor.end('hello');
  return { bytes: await readAll(visitor), visitorPort };
}

function hex16(port: number): string {
  return port.toString(16).padStart(4, '0');
}

describe('the header goes before the first byte', () => {
  test('V1 and V2 contain the addresses of the visitor and of the port', async () => {
    const server = await startEngine();
    await startAgent(server);
    const { address } = await mirror();
    const one = await openTunnel(server, { targets: [address], proxyProtocol: 'V1', serverIp: '127.0.0.2' });
    const first = await received(one.port, '127.0.0.2');
    expect(String(first.bytes)).toBe(`PROXY TCP4 127.0.0.1 127.0.0.2 ${first.visitorPort} ${one.port}\r\nhello`);
    const two = await openTunnel(server, { targets: [address], proxyProtocol: 'V2', serverIp: '' });
    const second = await received(two.port);
    expect(second.bytes.toString('hex')).toBe(
      `${SIGNATURE}2111000c7f0000017f000001${hex16(second.visitorPort)}${hex16(two.port)}${Buffer.from('hello').toString('hex')}`,
    );
  });

  test('a target that speaks first gets it at once; switched off, the next connection has none', async () => {
    const server = await startEngine();
    await startAgent(server);
    const greeter = await startTarget((socket) => socket.once('data', (header) => socket.end(`welcome, ${String(header)}`)));
    const tunnel = await openTunnel(server, { targets: [greeter.address], proxyProtocol: 'V1' });
    expect(String(await readAll(await visit(tunnel.port)))).toMatch(/^welcome, PROXY TCP4 127\.0\.0\.1 .*\r\n$/);
    await server.engine.apply({ kind: 'tunnel', tunnel: { ...tunnel, targets: [(await mirror()).address], proxyProtocol: '' } });
    expect(String((await received(tunnel.port)).bytes)).toBe('hello');
  });

  test('of a secret tunnel it names the machine of the visiting program, and the bridge', async () => {
    const server = await startEngine();
    await startAgent(server);
    await openTunnel(server, { mode: 'secret', password: 'what visitors prove', targets: [(await mirror()).address], proxyProtocol: 'V1' });
    const { port } = await startVisitor(server, { password: 'what visitors prove' });
    expect(String((await received(port)).bytes)).toMatch(new RegExp(`^PROXY TCP4 127\\.0\\.0\\.1 127\\.0\\.0\\.1 \\d+ ${server.bridge.port}\r\nhello$`));
  });
});

describeWithIpv6('the header of IPv6 visitors', () => {
  test('is of their family', async () => {
    const server = await startEngine();
    await startAgent(server);
    const { address } = await mirror();
    const one = await openTunnel(server, { targets: [address], proxyProtocol: 'V1', serverIp: '' });
    const first = await received(one.port, '::1');
    expect(String(first.bytes)).toBe(`PROXY TCP6 ::1 ::1 ${first.visitorPort} ${one.port}\r\nhello`);
    const two = await openTunnel(server, { targets: [address], proxyProtocol: 'V2', serverIp: '::1' });
    const second = await received(two.port, '::1');
    const loopback = '1'.padStart(32, '0');
    expect(second.bytes.toString('hex')).toBe(
      `${SIGNATURE}21210024${loopback}${loopback}${hex16(second.visitorPort)}${hex16(two.port)}${Buffer.from('hello').toString('hex')}`,
    );
  });
});

/** Waits until a program listens on a port. */
async function listening(port: number, program: Child): Promise<void> {
  await eventuallyAsync(() => refusal(port), (code) => code === '' || program.over);
  expect(program.output).not.toMatch(/emerg|ALERT/);
}

describeWith('nginx', 'nginx reads the header', () => {
  test.each(['V1', 'V2'] as const)('%s', async (proxyProtocol) => {
    const server = await startEngine();
    await startAgent(server);
    const [port, directory] = [await freePort(), scratchDirectory()];
    const config = path.join(directory, 'nginx.conf');
    writeFileSync(
      config,
      `daemon off; master_process off; pid ${directory}/pid; error_log stderr crit; events {}
      http {
        access_log off; client_body_temp_path ${directory}; proxy_temp_path ${directory}; fastcgi_temp_path ${directory}; uwsgi_temp_path ${directory}; scgi_temp_path ${directory};
        server {
          listen 127.0.0.1:${port} proxy_protocol;
          location / { return 200 "$proxy_protocol_addr $proxy_protocol_server_addr $proxy_protocol_server_port"; }
        }
      }`,
    );
    await listening(port, new Child(programPath('nginx'), ['-c', config, '-e', path.join(directory, 'errors')]));
    const tunnel = await openTunnel(server, { targets: [`127.0.0.1:${port}`], proxyProtocol });
    expect(await (await fetch(`http://127.0.0.1:${tunnel.port}/`, { headers: { connection: 'close' } })).text()).toBe(`127.0.0.1 127.0.0.1 ${tunnel.port}`);
  });
});

describeWith(['haproxy', 'iperf3'], 'haproxy reads the header', () => {
  test('and iperf3 runs through both', async () => {
    const server = await startEngine();
    await startAgent(server);
    const ports = { http: await freePort(), tcp: await freePort(), iperf: await freePort() };
    const config = path.join(scratchDirectory(), 'haproxy.cfg');
    writeFileSync(
      config,
      `defaults
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend http
  mode http
  bind 127.0.0.1:${ports.http} accept-proxy
  http-request return status 200 content-type text/plain lf-string "%[src] %[dst] %[dst_port]"
listen tcp
  mode tcp
  bind 127.0.0.1:${ports.tcp} accept-proxy
  server iperf 127.0.0.1:${ports.iperf}
`,
    );
    const haproxy = new Child(programPath('haproxy'), ['-db', '-f', config]);
    const iperf = new Child(programPath('iperf3'), ['-s', '-1', '-B', '127.0.0.1', '-p', String(ports.iperf), '--forceflush']);
    await Promise.all([listening(ports.http, haproxy), listening(ports.tcp, haproxy), iperf.says(/listening on/)]);
    const http = await openTunnel(server, { targets: [`127.0.0.1:${ports.http}`], proxyProtocol: 'V2' });
    expect(await (await fetch(`http://127.0.0.1:${http.port}/`, { headers: { connection: 'close' } })).text()).toBe(`127.0.0.1 127.0.0.1 ${http.port}`);

    const tunnel = await openTunnel(server, { targets: [`127.0.0.1:${ports.tcp}`], proxyProtocol: 'V2' });
    const client = new Child(programPath('iperf3'), ['-c', '127.0.0.1', '-p', String(tunnel.port), '-n', '16M', '-J']);
    expect(await client.exited).toMatchObject({ code: 0 });
    const [, arrived] = /"sum_received":\s*\{[^}]*"bytes":\s*(\d+)/.exec(client.output) ?? [];
    expect(Number(arrived)).toBeGreaterThan(1024 * 1024);
    await eventually(() => server.engine.tunnelState(tunnel.id)?.connections, (open) => open === 0);
    expect(server.engine.tunnelState(tunnel.id)?.inletBytes).toBeGreaterThanOrEqual(Number(arrived));
  });
});
