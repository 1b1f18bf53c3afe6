import { keyIdOf } from '../../wire/handshake.ts';
import { isKeyProof, keyProof, type NodeSide } from '../../wire/key-proof.ts';
import type { ByteSocket } from '../../wire/socket.ts';

/** The secrets of the links: the one that this node uses, and, while it is changed, one more that it accepts. */
export class LinkKeys {
  #current: string;
  #other: string | undefined;

  constructor(current: string) {
    this.#current = current;
  }

  /** The secret that new sessions begin with. */
  get current(): string {
    return this.#current;
  }

  /** @param other accepted, too */
  use(current: string, other: string | undefined): void {
    this.#current = current;
    this.#other = other;
  }

  /** No longer accepts a secret, unless it is the current one. */
  forget(key: string): void {
    if (this.#other === key) this.#other = undefined;
  }

  /** The accepted secret with this key id. */
  byId(keyId: string): string | undefined {
    return this.#all().find((key) => keyIdOf(key) === keyId);
  }

  accepts(key: string): boolean {
    return this.#all().includes(key);
  }

  /** The accepted secret that the other side of a session has proven to have. @param side the other one */
  proven(socket: ByteSocket, side: NodeSide, proof: string): string | undefined {
    return this.#all().find((key) => isKeyProof(socket, key, side, proof));
  }

  #all(): string[] {
    return this.#other === undefined ? [this.#current] : [this.#current, this.#other];
  }
}

/** Tells the other side of a session that this one has a secret. @param side this one */
export function sendKeyProof(socket: ByteSocket, key: string, side: NodeSide, send: (message: { readonly type: 'key'; readonly proof: string }) => void): void {
  const proof = keyProof(socket, key, side);
  if (proof) send({ type: 'key', proof: proof.toString('base64') });
}
