import { acceptHandshake, keyIdOf, newSessionId, proveHandshake, type Role } from '../../src/wire/handshake.ts';
import { Mux, type MuxOptions } from '../../src/wire/mux.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import type { ByteSocket, SocketBackend, SocketServer } from '../../src/wire/socket.ts';
import { fingerprintOf } from '../../src/wire/tls.ts';
import { covering } from './certificates.ts';

const HOST = '127.0.0.1';
const VKEY = 'a-vkey-for-tests';
const EMPTY = Buffer.alloc(0);

/** A promise with its two ends. */
export function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (error: unknown) => void } {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((ok, no) => {
    resolve = ok;
    reject = no;
  });
  return { promise, resolve, reject };
}

/** The TLS identity of listeners under test. */
export const identity = { certificate: covering.certificate, key: covering.key };
const trust = { fingerprint: fingerprintOf(covering.certificate) };

/** A connected pair of sockets of the backend under test. */
export async function socketPair(secure = false, sockets: SocketBackend = netBackend): Promise<{ dialed: ByteSocket; accepted: ByteSocket }> {
  const accepted = deferred<ByteSocket>();
  const server = await sockets.listen({ host: HOST, port: 0, identity: secure ? identity : undefined, onSocket: accepted.resolve, onError: accepted.reject });
  const dialed = await sockets.connect({ host: HOST, port: server.port, trust: secure ? trust : undefined, timeoutMs: 2000 });
  const pair = { dialed, accepted: await accepted.promise };
  await server.close();
  return pair;
}

/** The smallest tunnel there is: two muxes over real sockets and a real handshake, visitors on one side, a target on the other. */
export interface WireTunnel {
  /** Where visitors connect. */
  readonly port: number;
  readonly server: Mux;
  readonly agent: Mux;
  /** Why each side's session ended. */
  readonly serverClosed: Promise<string>;
  readonly agentClosed: Promise<string>;
  readonly counted: { sent: number; received: number; closed: number; errors: number };
  close(): Promise<void>;
}

/** How a tunnel under test runs. */
export interface WireTunnelOptions extends MuxOptions {
  /** false = everything stays on the mux, as it does over TLS */
  readonly dataConnections?: boolean;
  readonly secure?: boolean;
  readonly sockets?: SocketBackend;
}

/** Starts a tunnel to a port of this machine. */
export async function wireTunnel(targetPort: number, options: WireTunnelOptions = {}): Promise<WireTunnel> {
  const { sockets = netBackend, secure = false } = options;
  const serverClosed = deferred<string>();
  const agentClosed = deferred<string>();
  const serverMux = deferred<Mux>();
  const counted = { sent: 0, received: 0, closed: 0, errors: 0 };
  const sessionId = newSessionId();
  let sessionKey: Buffer = EMPTY;

  const bridge = await listen(sockets, secure, async (socket) => {
    const keyOf = (role: Role, keyId: string): string | Buffer | undefined =>
      role === 'mux' ? (keyId === keyIdOf(VKEY) ? VKEY : undefined) : keyId === sessionId ? sessionKey : undefined;
    const offer = await acceptHandshake(socket, { timeoutMs: 2000, keyOf });
    const key = offer.accept({ sessionId });
    if (offer.role === 'data') {
      (await serverMux.promise).addDataConnection(socket, offer.connection);
      return;
    }
    sessionKey = key;
    serverMux.resolve(
      new Mux(socket, 'server', {
        onOpen: (stream) => stream.reset(),
        onControl: () => {},
        onClose: serverClosed.resolve,
      }, options),
    );
  });

  const agentSocket = await sockets.connect({ host: HOST, port: bridge.port, trust: secure ? trust : undefined, timeoutMs: 2000 });
  const proven = await proveHandshake(agentSocket, { timeoutMs: 2000, role: 'mux', keyId: keyIdOf(VKEY), key: VKEY, connection: 0, info: {} });
  const agent: Mux = new Mux(agentSocket, 'agent', {
    onOpen: (stream) => {
      sockets.connect({ host: HOST, port: targetPort, timeoutMs: 2000 }).then((socket) => stream.join(socket), () => stream.reset());
    },
    onControl: () => {},
    onClose: agentClosed.resolve,
    ...(options.dataConnections === false || secure ? {} : {
      onDataConnectionsWanted: (ids: number[]) => ids.forEach((id) => void dialData(id)),
    }),
  }, options);

  async function dialData(id: number): Promise<void> {
    try {
      const socket = await sockets.connect({ host: HOST, port: bridge.port, timeoutMs: 2000 });
      await proveHandshake(socket, { timeoutMs: 2000, role: 'data', keyId: sessionId, key: proven.sessionKey, connection: id, info: {} });
      agent.addDataConnection(socket, id);
    } catch {
      agent.dataConnectionFailed(id);
    }
  }

  const server = await serverMux.promise;
  const hooks = {
    onSent: (bytes: number) => {
      counted.sent += bytes;
    },
    onReceived: (bytes: number) => {
      counted.received += bytes;
    },
    onClose: (error?: Error) => {
      counted.closed++;
      if (error) counted.errors++;
    },
  };
  const visitors = await listen(sockets, false, (socket) => {
    const stream = server.open(EMPTY);
    if (stream) stream.join(socket, hooks);
    else socket.destroy(true);
  });

  return {
    port: visitors.port,
    server,
    agent,
    counted,
    serverClosed: serverClosed.promise,
    agentClosed: agentClosed.promise,
    async close() {
      agent.close('the test is over');
      server.close('the test is over');
      await Promise.all([visitors.close(), bridge.close(), serverClosed.promise, agentClosed.promise]);
    },
  };
}

function listen(sockets: SocketBackend, secure: boolean, onSocket: (socket: ByteSocket) => void | Promise<void>): Promise<SocketServer> {
  return sockets.listen({
    host: HOST,
    port: 0,
    identity: secure ? identity : undefined,
    onSocket: (socket) => void onSocket(socket),
    onError: (error) => {
      throw error;
    },
  });
}
