import ipaddr from 'ipaddr.js';

/** The address types of SOCKS5 (RFC 1928, section 5). */
const Type = { IPV4: 1, NAME: 3, IPV6: 4 } as const;
const PORT_BYTES = 2;

/** An address as SOCKS5 writes it. */
export interface SocksAddress {
  /** An IP address or a name, without brackets. */
  readonly host: string;
  readonly port: number;
  /** Whether `host` is an IP address. */
  readonly numeric: boolean;
  /** Where what follows the address begins. */
  readonly end: number;
}

/** Reads type, address and port from `at` on; undefined = invalid or incomplete. */
export function readSocksAddress(bytes: Buffer, at: number): SocksAddress | undefined {
  const type = bytes[at];
  const nameLength = type === Type.NAME ? bytes[at + 1] : 0;
  const length = type === Type.IPV4 ? 4 : type === Type.IPV6 ? 16 : nameLength;
  if (length === undefined || length === 0) return undefined;
  const start = at + (type === Type.NAME ? 2 : 1);
  const end = start + length + PORT_BYTES;
  if (end > bytes.length) return undefined;
  const raw = bytes.subarray(start, start + length);
  const numeric = type !== Type.NAME;
  return { host: numeric ? ipaddr.fromByteArray([...raw]).toString() : raw.toString('latin1'), port: bytes.readUInt16BE(start + length), numeric, end };
}

/** Writes type, address and port of an IP address; IPv4-mapped ones as IPv4. @throws {Error} if it is not an IP address */
export function socksAddress(address: string, port: number): Buffer {
  const raw = ipaddr.process(address).toByteArray();
  return Buffer.from([raw.length === 4 ? Type.IPV4 : Type.IPV6, ...raw, port >> 8, port & 0xff]);
}
