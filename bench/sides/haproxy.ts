import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { covering } from '../../test/support/certificates.ts';
import { Child } from '../../test/support/child.ts';
import { programPath } from '../../test/support/find-program.ts';
import { freePort } from '../../test/support/free-port.ts';
import { scratchDirectory } from '../../test/support/scratch.ts';
import { answering } from '../answering.ts';
import type { Side } from './side.ts';

/** haproxy in front of the targets: one hop, no tunnel. What a native proxy makes of the same work. */
export const haproxy: Side = {
  name: 'haproxy',
  programs: ['haproxy'],
  async start(targets) {
    const ports = { http: await freePort(), echo: await freePort(), hosts: await freePort(), secureHosts: await freePort() };
    const directory = scratchDirectory();
    const [config, pem] = [path.join(directory, 'haproxy.cfg'), path.join(directory, 'pair.pem')];
    writeFileSync(pem, covering.certificate + covering.key);
    const listen = (name: 'http' | 'echo'): string =>
      `listen ${name}\n  bind 127.0.0.1:${ports[name]} backlog 4096\n  server target 127.0.0.1:${targets[name]}\n`;
    // Requests are routed by their host and get the visitor's address, as with Adit.
    const hosts =
      `frontend hosts\n  mode http\n  option forwardfor\n  bind 127.0.0.1:${ports.hosts} backlog 4096\n  bind 127.0.0.1:${ports.secureHosts} backlog 4096 ssl crt ${pem} alpn h2,http/1.1\n`
      + `  use_backend host if { hdr(host) -m beg localhost }\nbackend host\n  mode http\n  server target 127.0.0.1:${targets.http}\n`;
    writeFileSync(
      config,
      `global\n  maxconn 9500\ndefaults\n  mode tcp\n  timeout connect 5s\n  timeout client 1h\n  timeout server 1h\n${listen('http')}${
        listen('echo')
      }${hosts}`,
    );
    const child = new Child(programPath('haproxy'), ['-db', '-f', config]);
    for (const port of Object.values(ports)) await answering(port, child);
    return { name: 'haproxy', ports, pids: [child.pid], stop: () => child.end() };
  },
};
