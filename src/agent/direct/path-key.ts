import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** The two ends of a direct path. */
export type DirectRole = 'visitor' | 'agent';

/** First byte of a probe: neither STUN (0 or 1) nor UDX (255). */
const MARK = 0xf0;
const TAG_BYTES = 16;
/** Length of a probe, in bytes. */
export const PROBE_BYTES = 2 + TAG_BYTES;

/** What a probe says. */
export const Probe = {
  /** Are you there? */
  ASK: 1,
  /** I hear you. */
  ANSWER: 2,
  /** The visitor: this is the way we take. */
  CHOOSE: 3,
  /** The agent: agreed. */
  CHOSEN: 4,
  /** Either side, while the path is open: I am still there. */
  ALIVE: 5,
} as const;
/** @see Probe */
export type ProbeKind = (typeof Probe)[keyof typeof Probe];

/**
 * The key of one direct path: from the tunnel's password and a nonce of either side. Probes and TLS on the path are proven with it, so
 * nobody without the password can be taken for the other side.
 */
export class PathKey {
  /** Of TLS: 32 bytes. */
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

  /** What a probe of the other side says; undefined = it is none. */
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
