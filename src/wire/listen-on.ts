import { once } from 'node:events';
import type net from 'node:net';
import type { SharePort } from './shared-ports.ts';

/** Where a server listens. */
export interface ListenPlace {
  /** "" = all addresses, IPv4 and IPv6. */
  readonly host: string;
  /** 0 = ephemeral. */
  readonly port: number;
  /** The most connections that wait to be accepted; absent = Node's default. */
  readonly backlog?: number;
  /** Gets a port that other processes have open, too; absent = this process alone has it. */
  readonly share?: SharePort | undefined;
}

/** Makes a server listen. Connections arrive in a later iteration of the event loop. @throws the system's error, its `code` the errno name */
export async function listenOn(server: net.Server, { host, port, backlog, share }: ListenPlace): Promise<void> {
  if (share === undefined) {
    server.listen({ host: host === '' ? undefined : host, port, backlog });
    await once(server, 'listening');
    return;
  }
  server.listen({ _handle: await share(host, port) }, backlog);
  try {
    await once(server, 'listening');
  } catch (error) {
    // Node does not know where the handle is bound.
    throw error instanceof Error ? Object.assign(error, { address: host, port }) : error;
  }
}
