import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** The two ends of a direct path. */
export type DirectRole = 'visitor' | 'agent';

/** First byte of a probe: neither STUN (0 or 1) nor UDX (255). */
const MARK = 0xf0;
const TAG_BYTES = 16;
/** Length of a probe, in bytes. */
export const PROBE_BYTES = 2 + TAG_BYTES;

/** The meaning of a probe. */
export const Probe = {
  /** A request. */
  ASK: 1,
  /** The answer to a request. */
  ANSWER: 2,
  /** The visitor: this pair of addresses is chosen. */
  CHOOSE: 3,
  /** The agent: the choice is confirmed. */
  CHOSEN: 4,
  /** Either side, while the path is open: keep-alive. */
  ALIVE: 5,
} as const;
/** @see Probe */
export type ProbeKind = (typeof Probe)[keyof typeof Probe];

/**
 * The key of one direct path: derived from the tunnel's password and a nonce from each side. It authenticates probes and TLS on the path, so
 * nobody without the password can impersonate the peer.
 */
export class PathKey {
  /** The TLS key: 32 bytes. */
  readonly psk: Buffer;
  readonly #role: DirectRole;
  readonly #tags: Buffer;

  /** @param nonces of 32 bytes in hex */
  constructor(role: DirectRole, password: string, nonces: { readonly visitor: string; readonly agent: string }) {
    const salt = Buffer.from(nonces.visitor + nonces.agent, 'hex');
    this.#role = role;
    this.psk = Buffer.from(hkdfSync('sha256', password, salt, 'adit direct path tls', 32));
    this.#tags = Buffer.from(hkdfSync('sha256', password, salt, 'adit direct path probes', 32));
  }

  /** A probe of this side. */
  probe(kind: ProbeKind): Buffer {
    return Buffer.concat([Buffer.of(MARK, kind), this.#tag(this.#role, kind)]);
  }

  /** The kind of a probe from the peer; undefined = not a probe. */
  read(message: Buffer): ProbeKind | undefined {
    const kind = Object.values(Probe).find((kind) => kind === message[1]);
    if (message.length !== PROBE_BYTES || message[0] !== MARK || !kind) return undefined;
    const other = this.#role === 'visitor' ? 'agent' : 'visitor';
    return timingSafeEqual(message.subarray(2), this.#tag(other, kind)) ? kind : undefined;
  }

  #tag(role: DirectRole, kind: ProbeKind): Buffer {
    return createHmac('sha256', this.#tags).update(`${role} ${kind}`).digest().subarray(0, TAG_BYTES);
  }
}
