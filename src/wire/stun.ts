/**
 * The part of STUN (RFC 8489) that hole punching needs: a binding request, and the answer that names the address it came from. Requests
 * are padded to the size of the largest answer and shorter ones get none, so the server never sends more than it received.
 */
import { randomBytes } from 'node:crypto';
import ipaddr from 'ipaddr.js';

const REQUEST = 0x0001;
const RESPONSE = 0x0101;
const COOKIE = 0x2112_a442;
const XOR_MAPPED_ADDRESS = 0x0020;
/** RFC 5780: filler. */
const PADDING = 0x0026;
const HEADER_BYTES = 20;
const ID_BYTES = 12;
/** Header, and the address attribute for IPv6. */
const LARGEST_RESPONSE = HEADER_BYTES + 24;

/** An address and a port, as UDP and TCP know them. */
export interface Endpoint {
  /** An IP address; IPv4-mapped ones as IPv4. */
  readonly host: string;
  readonly port: number;
}

/** Length of a request, in bytes. */
export const STUN_REQUEST_BYTES = LARGEST_RESPONSE;

/** A binding request with a transaction id of its own. */
export function stunRequest(): Buffer {
  const request = Buffer.alloc(STUN_REQUEST_BYTES);
  request.writeUInt16BE(REQUEST, 0);
  request.writeUInt16BE(STUN_REQUEST_BYTES - HEADER_BYTES, 2);
  request.writeUInt32BE(COOKIE, 4);
  randomBytes(ID_BYTES).copy(request, 8);
  request.writeUInt16BE(PADDING, HEADER_BYTES);
  request.writeUInt16BE(STUN_REQUEST_BYTES - HEADER_BYTES - 4, HEADER_BYTES + 2);
  return request;
}

/** The answer to a message from `from`; undefined = not one of our requests, which gets no answer. Never longer than the message. */
export function stunResponse(message: Buffer, from: Endpoint): Buffer | undefined {
  if (message.length < LARGEST_RESPONSE || message.readUInt16BE(0) !== REQUEST || message.readUInt32BE(4) !== COOKIE) return undefined;
  if (message.readUInt16BE(2) !== message.length - HEADER_BYTES) return undefined;
  const address = addressBytes(from.host);
  const response = Buffer.alloc(HEADER_BYTES + 8 + address.length);
  response.writeUInt16BE(RESPONSE, 0);
  response.writeUInt16BE(8 + address.length, 2);
  message.copy(response, 4, 4, HEADER_BYTES);
  response.writeUInt16BE(XOR_MAPPED_ADDRESS, HEADER_BYTES);
  response.writeUInt16BE(4 + address.length, HEADER_BYTES + 2);
  response[HEADER_BYTES + 5] = address.length === 4 ? 1 : 2;
  response.writeUInt16BE(from.port ^ (COOKIE >>> 16), HEADER_BYTES + 6);
  masked(address, message).copy(response, HEADER_BYTES + 8);
  return response;
}

/** The address in the answer to this request; undefined = not an answer to it. */
export function stunMapped(message: Buffer, request: Buffer): Endpoint | undefined {
  if (message.length < HEADER_BYTES + 12 || message.readUInt16BE(0) !== RESPONSE) return undefined;
  if (!message.subarray(4, HEADER_BYTES).equals(request.subarray(4, HEADER_BYTES))) return undefined;
  if (message.readUInt16BE(HEADER_BYTES) !== XOR_MAPPED_ADDRESS) return undefined;
  const length = message.readUInt16BE(HEADER_BYTES + 2) - 4;
  if ((length !== 4 && length !== 16) || message.length < HEADER_BYTES + 8 + length) return undefined;
  const address = masked(message.subarray(HEADER_BYTES + 8, HEADER_BYTES + 8 + length), request);
  return { host: addressText(address), port: message.readUInt16BE(HEADER_BYTES + 6) ^ (COOKIE >>> 16) };
}

/** Addresses are sent XORed with cookie and transaction id, so that no NAT on the way rewrites them. */
function masked(address: Buffer, request: Buffer): Buffer {
  return Buffer.from(address.map((byte, index) => byte ^ (request[4 + index] ?? 0)));
}

function addressBytes(host: string): Buffer {
  return Buffer.from(ipaddr.process(host).toByteArray());
}

function addressText(address: Buffer): string {
  return ipaddr.fromByteArray([...address]).toString();
}
