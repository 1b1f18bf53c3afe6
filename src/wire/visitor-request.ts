import type { SocketAddress } from './socket.ts';

/*
 * The request to carry a visitor's connection (node-messages.ts, kind "visitor") in a short form, for nodes that say that they know it: reading one as JSON, and checking
 * it, took an eighth of a home's CPU for a new connection (docs/performance.md).
 *
 * u16 0 in place of the length of the JSON text, u8 flags, u32 client, u32 tunnel or host, u16 port, u16 local port, u32 credit, u8 length of the address, u8 length of the
 * local address, both addresses, and what follows a request. What is absent is 0.
 */

/** To carry a visitor's connection, which the agent is to connect with what the bytes after the request say (open.ts). */
export interface VisitorRequest {
  readonly kind: 'visitor';
  readonly clientId: number;
  readonly of: 'tunnel' | 'host';
  readonly id: number;
  readonly address: string;
  readonly port: number;
  /** The address that the visitor connected to. */
  readonly local?: SocketAddress | undefined;
  readonly dataFollows: boolean;
  /** Another node believed that the home was there, and passes the connection on. It is passed on once. */
  readonly passedOn: boolean;
  /** As in open.ts. */
  readonly credit?: number | undefined;
}

/** Longest address, and what a request may give as credit, in bytes: also for the same request in JSON. */
export const MOST_ADDRESS = 64;
/** @see MOST_ADDRESS */
export const CREDIT = { least: 16 * 1024, most: 1024 * 1024 } as const;

const Flag = { HOST: 1, DATA_FOLLOWS: 2, PASSED_ON: 4, LOCAL: 8 } as const;
const ALL_FLAGS = Flag.HOST | Flag.DATA_FOLLOWS | Flag.PASSED_ON | Flag.LOCAL;
const FIXED_BYTES = 21;

/** The payload of OPEN. @param rest the bytes after the request */
export function encodeVisitorRequest({ clientId, of, id, address, port, local, dataFollows, passedOn, credit }: VisitorRequest, rest: Buffer): Buffer {
  const localAddress = local?.address ?? '';
  const localAt = FIXED_BYTES + address.length;
  const restAt = localAt + localAddress.length;
  const payload = Buffer.allocUnsafe(restAt + rest.length);
  payload.writeUInt16BE(0);
  payload[2] = (of === 'host' ? Flag.HOST : 0) | (dataFollows ? Flag.DATA_FOLLOWS : 0) | (passedOn ? Flag.PASSED_ON : 0) | (local ? Flag.LOCAL : 0);
  payload.writeUInt32BE(clientId, 3);
  payload.writeUInt32BE(id, 7);
  payload.writeUInt16BE(port, 11);
  payload.writeUInt16BE(local?.port ?? 0, 13);
  payload.writeUInt32BE(credit ?? 0, 15);
  payload[19] = address.length;
  payload[20] = localAddress.length;
  payload.write(address, FIXED_BYTES);
  payload.write(localAddress, localAt);
  payload.set(rest, restAt);
  return payload;
}

/** Whether a payload of OPEN is in this form. */
export function isVisitorRequest(payload: Buffer): boolean {
  return payload.length >= FIXED_BYTES && payload.readUInt16BE() === 0;
}

/** Reads such a payload; undefined = it is none that this version knows. */
export function decodeVisitorRequest(payload: Buffer): { readonly request: VisitorRequest; readonly rest: Buffer } | undefined {
  const flags = payload.readUInt8(2);
  const credit = payload.readUInt32BE(15);
  const [addressBytes, localBytes] = [payload.readUInt8(19), payload.readUInt8(20)];
  const localAt = FIXED_BYTES + addressBytes;
  const restAt = localAt + localBytes;
  if ((flags & ~ALL_FLAGS) !== 0 || (credit !== 0 && (credit < CREDIT.least || credit > CREDIT.most))) return undefined;
  if (addressBytes > MOST_ADDRESS || localBytes > MOST_ADDRESS || restAt > payload.length) return undefined;
  return {
    request: {
      kind: 'visitor',
      clientId: payload.readUInt32BE(3),
      of: (flags & Flag.HOST) === 0 ? 'tunnel' : 'host',
      id: payload.readUInt32BE(7),
      address: payload.toString('latin1', FIXED_BYTES, localAt),
      port: payload.readUInt16BE(11),
      local: (flags & Flag.LOCAL) === 0 ? undefined : { address: payload.toString('latin1', localAt, restAt), port: payload.readUInt16BE(13) },
      dataFollows: (flags & Flag.DATA_FOLLOWS) !== 0,
      passedOn: (flags & Flag.PASSED_ON) !== 0,
      credit: credit === 0 ? undefined : credit,
    },
    rest: payload.subarray(restAt),
  };
}
