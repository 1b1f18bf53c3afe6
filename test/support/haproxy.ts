import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Child } from './child.ts';
import { eventuallyAsync } from './eventually.ts';
import { findProgram } from './find-program.ts';
import { scratchDirectory } from './scratch.ts';
import { visit } from './target.ts';

/** A port of haproxy, and the servers behind it. */
export interface Front {
  readonly name: string;
  /** host:port */
  readonly bind: string;
  /** `address`: host:port; `httpPort`: where it is asked for `/readyz`. */
  readonly servers: ReadonlyArray<{ readonly name: string; readonly address: string; readonly httpPort: number }>;
}

/** Starts haproxy, as docs/scaling.md has it: it asks the servers for `/readyz`, and sends connections to those that are ready. Resolves when its ports are open. */
export async function startHaproxy(fronts: readonly Front[]): Promise<Child> {
  const file = path.join(scratchDirectory(), 'haproxy.cfg');
  const blocks = fronts.map(({ name, bind, servers }, index) =>
    [
      `frontend ${name}`,
      `    bind ${bind}`,
      `    default_backend ${name}-servers`,
      `backend ${name}-servers`,
      ...index === 0 ? ['    option httpchk GET /readyz', '    default-server inter 1s fall 2'] : [],
      // One check of each server, whose result all ports follow: each check is a small write to the database.
      ...servers.map((server) =>
        `    server ${server.name} ${server.address} ${
          index === 0 ? `check addr 127.0.0.1 port ${server.httpPort}` : `track ${fronts[0]?.name}-servers/${server.name}`
        }`
      ),
    ].join('\n')
  );
  const defaults =
    'defaults\n    mode tcp\n    timeout connect 5s\n    timeout check 3s\n    timeout client 1m\n    timeout server 1m\n    option redispatch 1\n';
  writeFileSync(file, `global\n    maxconn 4000\n${defaults}${blocks.join('\n')}\n`);
  const child = new Child(findProgram('haproxy') ?? 'haproxy', ['-db', '-f', file]);
  const [first] = fronts;
  if (first) await eventuallyAsync(() => isOpen(first.bind), Boolean);
  return child;
}

/** Whether a port accepts connections. */
async function isOpen(bind: string): Promise<boolean> {
  const [host, port] = bind.split(':');
  try {
    (await visit(Number(port), host)).destroy();
    return true;
  } catch {
    return false; // not yet
  }
}
