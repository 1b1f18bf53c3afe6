/** The result of parsing the first bytes of a TLS connection. */
export type ClientHello =
  /** Read on. */
  | { readonly kind: 'incomplete' }
  /** This is no TLS. */
  | { readonly kind: 'invalid' }
  /** `serverName` is in lower case; "" = the visitor sent none. */
  | { readonly kind: 'hello'; readonly serverName: string };

/** Maximum size of a ClientHello in bytes: several times what any program sends. */
export const MAX_HELLO = 16 * 1024;

/** The most records: programs send one or a few, and one for each byte is an attack. */
const MAX_RECORDS = 64;

const INCOMPLETE: ClientHello = { kind: 'incomplete' };
const INVALID: ClientHello = { kind: 'invalid' };
const NO_NAME: ClientHello = { kind: 'hello', serverName: '' };

const HANDSHAKE_RECORD = 22;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
/** Letters, digits, hyphens, underscores and dots: what a host pattern can match. */
const hostName = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?$/;

/** Reads the server name (SNI, RFC 6066) of a ClientHello without answering it: it selects the host. */
export function readClientHello(bytes: Buffer): ClientHello {
  const message = handshakeMessage(bytes);
  return Buffer.isBuffer(message) ? helloOf(new Reader(message)) : message;
}

/** The handshake message, put together from its records. */
function handshakeMessage(bytes: Buffer): Buffer | ClientHello {
  const parts: Buffer[] = [];
  let have = 0;
  for (let at = 0;;) {
    if (bytes.length > at && bytes[at] !== HANDSHAKE_RECORD) return INVALID;
    if (bytes.length > at + 1 && bytes[at + 1] !== 3) return INVALID;
    if (bytes.length < at + 5) break;
    const length = bytes.readUInt16BE(at + 3);
    if (length === 0 || length > MAX_HELLO || parts.length >= MAX_RECORDS) return INVALID;
    const part = bytes.subarray(at + 5, at + 5 + length);
    parts.push(part);
    have += part.length;
    if (part.length < length) break;
    at += 5 + length;
    if (have >= 4 && have >= 4 + messageLength(parts)) break;
  }
  const message = Buffer.concat(parts);
  if (message.length > 0 && message[0] !== CLIENT_HELLO) return INVALID;
  if (message.length < 4) return INCOMPLETE;
  const length = message.readUIntBE(1, 3);
  if (length > MAX_HELLO) return INVALID;
  return message.length < 4 + length ? INCOMPLETE : message.subarray(4, 4 + length);
}

/** Non-empty parts with four bytes together: the first four parts contain the length, whatever their number. */
function messageLength(parts: readonly Buffer[]): number {
  return Buffer.concat(parts.slice(0, 4)).readUIntBE(1, 3);
}

function helloOf(hello: Reader): ClientHello {
  hello.skip(2 + 32);
  hello.vector(1);
  hello.vector(2);
  hello.vector(1);
  if (hello.failed) return INVALID;
  if (hello.empty) return NO_NAME;
  const extensions = new Reader(hello.vector(2));
  while (!extensions.empty && !extensions.failed) {
    const type = extensions.number(2);
    const extension = new Reader(extensions.vector(2));
    if (type !== SERVER_NAME) continue;
    const names = new Reader(extension.vector(2));
    const nameType = names.number(1);
    const name = names.vector(2).toString('latin1').toLowerCase();
    if (extension.failed || names.failed || nameType !== 0 || name.length > 255 || !hostName.test(name)) return INVALID;
    return { kind: 'hello', serverName: name.endsWith('.') ? name.slice(0, -1) : name };
  }
  return hello.failed || extensions.failed ? INVALID : NO_NAME;
}

const NOTHING = Buffer.alloc(0);

/** Reads numbers and length-prefixed vectors; reading beyond the end yields empty values and sets `failed`. */
class Reader {
  failed = false;
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get empty(): boolean {
    return this.#at >= this.#bytes.length;
  }

  skip(count: number): void {
    if (this.#at + count > this.#bytes.length) this.failed = true;
    this.#at += count;
  }

  number(size: 1 | 2): number {
    const at = this.#at;
    this.skip(size);
    return this.failed ? 0 : this.#bytes.readUIntBE(at, size);
  }

  /** @param size of the length prefix, in bytes */
  vector(size: 1 | 2): Buffer {
    const length = this.number(size);
    const at = this.#at;
    this.skip(length);
    return this.failed ? NOTHING : this.#bytes.subarray(at, at + length);
  }
}
