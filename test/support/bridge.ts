import { afterEach } from '@jest/globals';
import { Bridge, type BridgeOptions } from '../../src/engine/bridge/bridge.ts';
import { ClientChanges } from '../../src/engine/client-changes.ts';
import type { ClientEntry } from '../../src/engine/clients.ts';
import { Tunnels } from '../../src/engine/tunnels/tunnels.ts';
import { Attempts } from '../../src/rules/attempts.ts';
import { ControlQueue } from '../../src/wire/control-queue.ts';
import { keyIdOf, proveHandshake, type Role } from '../../src/wire/handshake.ts';
import { Mux } from '../../src/wire/mux.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import { socketPair } from '../../src/wire/socket-pair.ts';
import type { ByteSocket, ListenOptions } from '../../src/wire/socket.ts';
import { covering } from './certificates.ts';
import { environmentOf } from './environment.ts';
import { LogRecorder } from './log-recorder.ts';
import { CLIENT, fresh } from './tunnel.ts';

/** How a peer connects. */
interface Connecting {
  readonly address?: string;
  /** As if over TLS. */
  readonly secure?: boolean;
  readonly info?: object;
  /** By default, that of the key. */
  readonly keyId?: string;
}

const bridges: Bridge[] = [];
afterEach(async () => {
  await Promise.all(bridges.splice(0).map((bridge) => bridge.close()));
});

/** A bridge without a network. What is not given does nothing. */
export async function startBridge(given: Partial<BridgeOptions> = {}) {
  let onSocket: (socket: ByteSocket) => void = () => undefined;
  const listen = async (options: ListenOptions) => {
    ({ onSocket } = options);
    return { host: options.host, port: options.port, close: () => Promise.resolve(), renew: () => undefined };
  };
  const environment = environmentOf({ now: () => 1_000_000 });
  const { clients, now } = environment;
  const log = new LogRecorder();
  const bridge = new Bridge({
    sockets: { ...netBackend, listen },
    log: log.logger,
    now,
    clients,
    declarations: () => undefined,
    overview: () => [],
    visited: () => undefined,
    attempts: new Attempts(),
    trusts: () => false,
    timing: {},
    onTraffic: () => undefined,
    onHealth: () => undefined,
    onSeen: () => undefined,
    nodes: () => undefined,
    ...given,
  });
  bridges.push(bridge);
  await bridge.listen({ host: '127.0.0.1', port: 1, tls: { port: 2, identity: covering } });
  /** A connection comes, and does what the test does with it. */
  const comes = (socket: ByteSocket): void => onSocket(socket);

  /** Adds a client, whose vkey is `key ${id}`. */
  const addClient = async (id: number, wanted: Partial<typeof CLIENT> = {}): Promise<ClientEntry> => {
    await new ClientChanges(environment, new Tunnels(environment)).addAll([{ wanted: { ...CLIENT, ...wanted, id, vkey: `key ${id}` }, stored: fresh }]);
    const entry = clients.get(id);
    if (!entry) throw new Error('it was added');
    return entry;
  };

  /** A peer that has proven a key: a session, or a data connection. @throws {HandshakeError} if it is refused */
  const connect = async (
    role: Role,
    key: string | Buffer,
    { address = '192.0.2.1', secure = false, info = {}, keyId = keyIdOf(String(key)) }: Connecting = {},
  ) => {
    const [near, far] = socketPair({ remoteAddress: address, remotePort: 7 });
    if (secure) { for (const end of [near, far]) Object.assign(end, { channelSecret: () => Buffer.from('secret') }); }
    comes(far);
    const { body, sessionKey } = await proveHandshake(near, { timeoutMs: 60_000, role, keyId, key, connection: 1, info });
    /** What the bridge says. */
    const heard: unknown[] = [];
    let end: () => void = () => undefined;
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    const mux = new Mux(near, 'agent', {
      onOpen: (stream) => stream.reset(),
      onControl: (message) => heard.push(message),
      onClose: end,
    }, { heartbeatMs: 60_000, controlQueue: new ControlQueue(Number.POSITIVE_INFINITY) });
    return { body, sessionKey, mux, heard, over };
  };
  return { bridge, log, comes, addClient, connect };
}
