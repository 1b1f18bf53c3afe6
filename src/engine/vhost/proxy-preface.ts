import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { AddressFamilyType, Command, IPv4ProxyAddress, IPv6ProxyAddress, TransportProtocol, V2ProxyProtocol } from 'proxy-protocol-js';
import { canonicalAddress } from '../../rules/ip-address.ts';
import type { PairOrigin } from '../../wire/socket-pair.ts';

/** The result of parsing the first bytes of a connection for the PROXY protocol. */
export type ProxyPreface =
  /** Read on. */
  | { readonly kind: 'incomplete' }
  /** Not a header. */
  | { readonly kind: 'none' }
  /** Starts like a header, but is malformed. */
  | { readonly kind: 'invalid' }
  /** `length` bytes. `origin` is the visitor; undefined = the peer speaks for itself (LOCAL, UNKNOWN). */
  | { readonly kind: 'header'; readonly length: number; readonly origin: PairOrigin | undefined };

/** Longest header of version 1, its line end included. */
const MAX_V1 = 107;
/** Longest header of version 2: the size that senders may rely on. */
const MAX_V2 = 536;
const V1 = Buffer.from('PROXY ');
const V2 = Buffer.from('\r\n\r\n\0\r\nQUIT\n');
const V2_FIXED = 16;

const INCOMPLETE: ProxyPreface = { kind: 'incomplete' };
const NONE: ProxyPreface = { kind: 'none' };
const INVALID: ProxyPreface = { kind: 'invalid' };
const number = '(0|[1-9]\\d{0,4})';
const v1Line = new RegExp(`^PROXY (?:UNKNOWN(?: [ -~]*)?|TCP([46]) ([0-9.]+|[0-9a-fA-F:.]+) ([0-9.]+|[0-9a-fA-F:.]+) ${number} ${number})$`);

/** Reads a header of the PROXY protocol, version 1 or 2, at the beginning of a connection, as haproxy defines it. */
export function readProxyPreface(bytes: Buffer): ProxyPreface {
  if (begins(bytes, V1)) return bytes.length < V1.length ? INCOMPLETE : readV1(bytes);
  if (begins(bytes, V2)) return bytes.length < V2_FIXED ? INCOMPLETE : readV2(bytes);
  return NONE;
}

/** Whether the bytes start with a signature, or are the beginning of one. */
function begins(bytes: Buffer, signature: Buffer): boolean {
  const length = Math.min(bytes.length, signature.length);
  return bytes.subarray(0, length).equals(signature.subarray(0, length));
}

function readV1(bytes: Buffer): ProxyPreface {
  const end = bytes.subarray(0, MAX_V1).indexOf('\r\n');
  if (end < 0) return bytes.length < MAX_V1 ? INCOMPLETE : INVALID;
  const match = v1Line.exec(bytes.toString('latin1', 0, end));
  if (!match) return INVALID;
  const [, family, source = '', destination = '', from, to] = match;
  if (family === undefined) return { kind: 'header', length: end + 2, origin: undefined };
  if (isIP(source) !== Number(family) || isIP(destination) !== Number(family)) return INVALID;
  return headerOf(end + 2, [source, Number(from)], [destination, Number(to)]);
}

function readV2(bytes: Buffer): ProxyPreface {
  const length = V2_FIXED + bytes.readUInt16BE(14);
  if (length > MAX_V2) return INVALID;
  if (bytes.length < length) return INCOMPLETE;
  const header = parseV2(bytes.subarray(0, length));
  if (!header) return INVALID;
  const { command, transportProtocol, proxyAddress: address } = header;
  if (command === Command.LOCAL) return { kind: 'header', length, origin: undefined };
  if (address instanceof IPv4ProxyAddress || address instanceof IPv6ProxyAddress) {
    if (transportProtocol !== TransportProtocol.STREAM) return INVALID;
    return headerOf(length, [textOf(address.sourceAddress.address), address.sourcePort], [textOf(address.destinationAddress.address), address.destinationPort]);
  }
  // A connection without addresses, or of a socket of another machine's file system.
  return address.getAddressFamilyType() === AddressFamilyType.UNSPEC || transportProtocol === TransportProtocol.STREAM
    ? { kind: 'header', length, origin: undefined }
    : INVALID;
}

/** undefined = it is malformed */
function parseV2(bytes: Buffer): V2ProxyProtocol | undefined {
  try {
    return V2ProxyProtocol.parse(bytes);
  } catch {
    return undefined; // not an address
  }
}

function textOf(bytes: Iterable<number>): string {
  return ipaddr.fromByteArray([...bytes]).toString();
}

function headerOf(length: number, [source, from]: [string, number], [destination, to]: [string, number]): ProxyPreface {
  const [remoteAddress, address] = [canonicalAddress(source), canonicalAddress(destination)];
  if (remoteAddress === undefined || address === undefined || from > 65_535 || to > 65_535) return INVALID;
  return { kind: 'header', length, origin: { remoteAddress, remotePort: from, local: { address, port: to } } };
}
