import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { type DirectWay, directWays } from '../../wire/direct-messages.ts';
import type { MuxOptions } from '../../wire/mux.ts';
import { byteSocket } from '../../wire/net-socket.ts';
import type { ByteSocket } from '../../wire/socket.ts';
import type { Endpoint } from '../../wire/stun.ts';
import { type DirectRole, PathKey } from './path-key.ts';
import { NoPathError, type PunchOptions } from './punch.ts';
import { punchTcp } from './punch-tcp.ts';
import { punchUdp } from './punch-udp.ts';
import { secureDirect } from './secure.ts';
import type { Signal } from './signal.ts';
import { loadUdx, newStreamId } from './udx.ts';

/** Keep-alive of a path: a lost path is noticed within 5 s, late timers included. It also keeps the NATs' mappings. */
const LIFE = { heartbeatMs: 1000, silenceMs: 4000 } as const;
/** Timeout of an attempt, in ms. The agent's is a little longer, because the visitor decides. */
const GIVE_UP_MS = { visitor: 3000, agent: 4000 } as const;
/** Timeout of the first messages of both sides, in ms. */
const GREETING_MS = 5000;
/** Timeout of the TLS handshake, in ms. */
const SECURE_MS = 3000;

/** How a direct path is opened. */
export interface PathOptions {
  readonly role: DirectRole;
  /** The tunnel's password. */
  readonly password: string;
  readonly signal: Signal;
  /** The server's address, as this side reaches it. */
  readonly server: string;
  /** The agent: the server's STUN ports. */
  readonly stunPorts: readonly number[];
  /** The visitor: the transport to try if both sides support it. */
  readonly preferred: DirectWay;
}

/** An open direct path: encrypted, and the peer has authenticated with the password. */
export interface OpenPath {
  readonly socket: ByteSocket;
  readonly way: DirectWay;
  readonly peer: Endpoint;
  /** The keep-alive that detects a lost path. */
  readonly life: Pick<MuxOptions, 'heartbeatMs' | 'silenceMs' | 'heardOutOfBand'>;
}

/**
 * Agrees with the peer on a direct path and opens it.
 * @throws {Error} when no path could be opened; the message gives the reason
 */
export async function openPath(options: PathOptions): Promise<OpenPath> {
  const { role, password, signal, stunPorts, preferred } = options;
  const udx = await loadUdx();
  const able = directWays.filter((way) => way !== 'udp' || udx);
  const ways = able.toSorted((one, other) => Number(other === preferred) - Number(one === preferred));
  const nonce = randomBytes(32).toString('hex');
  const streamId = newStreamId();
  signal.send({ type: 'hello', nonce, ways, streamId, stunPorts: [...stunPorts] });
  const hello = await soon(signal.receive('hello'));
  const [visitor, agent] = role === 'visitor' ? [ways, hello.ways] : [hello.ways, ways];
  const way = visitor.find((way) => agent.includes(way));
  const ports = role === 'visitor' ? hello.stunPorts : stunPorts;
  if (!way || ports.length === 0) throw new NoPathError(way ? "the server's p2p port is not open" : 'the two sides have no transport in common');
  const key = new PathKey(role, password, role === 'visitor' ? { visitor: nonce, agent: hello.nonce } : { visitor: hello.nonce, agent: nonce });
  const punch: PunchOptions = {
    role,
    key,
    signal,
    timeoutMs: GIVE_UP_MS[role],
    stun: { host: options.server, family: isIP(options.server), ports },
  };
  const { raw, peer, ...signs } = way === 'udp' && udx
    ? await punchUdp(udx, { ours: streamId, theirs: hello.streamId }, LIFE.heartbeatMs, punch)
    : await punchTcp(punch);
  return { socket: byteSocket(await secureDirect(raw, role, key.psk, SECURE_MS)), way, peer, life: { ...LIFE, ...signs } };
}

async function soon<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await Promise.race([
      work,
      new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new NoPathError('the peer says nothing')), GREETING_MS);
      }),
    ]);
  } finally {
    clearTimeout(timer);
  }
}
