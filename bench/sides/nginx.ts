import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { covering } from '../../test/support/certificates.ts';
import { Child } from '../../test/support/child.ts';
import { programPath } from '../../test/support/find-program.ts';
import { freePort } from '../../test/support/free-port.ts';
import { scratchDirectory } from '../../test/support/scratch.ts';
import { answering } from '../answering.ts';
import type { Side } from './side.ts';

/** nginx in front of the targets: one hop, no tunnel; a reverse proxy that keeps its connections, and a proxy for datagrams. */
export const nginx: Side = {
  name: 'nginx',
  programs: ['nginx', 'ngx_stream_module.so'],
  async start(targets) {
    const ports = { hosts: await freePort(), secureHosts: await freePort(), udp: await freePort() };
    const directory = scratchDirectory();
    const [config, certificate, key] = ['nginx.conf', 'cert.pem', 'key.pem'].map((name) => path.join(directory, name));
    if (config === undefined || certificate === undefined || key === undefined) throw new Error('three names make three paths');
    writeFileSync(certificate, covering.certificate);
    writeFileSync(key, covering.key);
    writeFileSync(
      config,
      `
      load_module ${programPath('ngx_stream_module.so')};
      daemon off; master_process off; pid ${directory}/pid; error_log stderr notice; worker_rlimit_nofile 16384;
      events { worker_connections 8192; }
      http {
        access_log off; keepalive_requests 1000000000; keepalive_timeout 300s; proxy_buffering off;
        client_body_temp_path ${directory}; proxy_temp_path ${directory}; fastcgi_temp_path ${directory}; uwsgi_temp_path ${directory}; scgi_temp_path ${directory};
        upstream target { server 127.0.0.1:${targets.http}; keepalive 64; keepalive_requests 1000000000; }
        server {
          listen 127.0.0.1:${ports.hosts} backlog=4096; listen 127.0.0.1:${ports.secureHosts} backlog=4096 ssl http2; server_name localhost;
          ssl_certificate ${certificate}; ssl_certificate_key ${key};
          location / {
            proxy_pass http://target; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $http_host;
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_set_header X-Real-IP $remote_addr; proxy_set_header X-Forwarded-Proto $scheme;
          }
        }
      }
      stream { server { listen 127.0.0.1:${ports.udp} udp; proxy_pass 127.0.0.1:${targets.udp}; } }`,
    );
    const child = new Child(programPath('nginx'), ['-c', config, '-e', path.join(directory, 'errors')]);
    for (const port of [ports.hosts, ports.secureHosts]) await answering(port, child);
    return { name: 'nginx', ports, pids: [child.pid], stop: () => child.end() };
  },
};
