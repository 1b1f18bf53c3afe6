import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Child } from '../../test/support/child.ts';
import { freePort } from '../../test/support/free-port.ts';
import { scratchDirectory } from '../../test/support/scratch.ts';
import { serving } from '../answering.ts';
import { binaries } from './binaries.ts';
import type { Side } from './side.ts';

const programs = binaries('BENCH_FRP', ['frps', 'frpc']);

/** frp: server and client, one multiplexed connection between them, without TLS, as Adit's has none unless a client is to be encrypted. */
export const frp: Side = {
  name: 'frp',
  programs: [],
  missing: programs.missing,
  async start(targets) {
    const ports = {
      http: await freePort(),
      echo: await freePort(),
      udp: await freePort(),
      hosts: await freePort(),
      socks5: await freePort(),
      httpProxy: await freePort(),
    };
    const bridge = await freePort();
    const directory = scratchDirectory();
    const [serverFile, clientFile] = [path.join(directory, 'frps.toml'), path.join(directory, 'frpc.toml')];
    const shared = ['log.to = "console"', 'log.level = "warn"', 'auth.token = "bench"'];
    writeFileSync(serverFile, [...shared, 'bindAddr = "127.0.0.1"', `bindPort = ${bridge}`, `vhostHTTPPort = ${ports.hosts}`].join('\n'));
    const proxy = (name: string, ...lines: string[]): string[] => ['[[proxies]]', `name = "${name}"`, ...lines];
    const local = (port: number): string[] => ['localIP = "127.0.0.1"', `localPort = ${port}`];
    writeFileSync(
      clientFile,
      [
        ...shared,
        'serverAddr = "127.0.0.1"',
        `serverPort = ${bridge}`,
        'transport.tls.enable = false',
        ...(['http', 'echo'] as const).flatMap((name) => proxy(name, 'type = "tcp"', ...local(targets[name]), `remotePort = ${ports[name]}`)),
        ...proxy('udp', 'type = "udp"', ...local(targets.udp), `remotePort = ${ports.udp}`),
        ...proxy('host', 'type = "http"', ...local(targets.http), 'customDomains = ["localhost"]'),
        ...proxy('socks5', 'type = "tcp"', `remotePort = ${ports.socks5}`, '[proxies.plugin]', 'type = "socks5"'),
        ...proxy('proxy', 'type = "tcp"', `remotePort = ${ports.httpProxy}`, '[proxies.plugin]', 'type = "http_proxy"'),
      ].join('\n'),
    );
    const server = new Child(programs.of('frps'), ['-c', serverFile]);
    const client = new Child(programs.of('frpc'), ['-c', clientFile]);
    for (const port of [ports.http, ports.hosts]) await serving(port, client);
    return {
      name: 'frp',
      ports,
      pids: [server.pid, client.pid],
      stop: async () => {
        await client.end();
        await server.end();
      },
    };
  },
};
