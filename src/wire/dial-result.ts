import { errnoOf } from './system-error.ts';

/** The results of a dial. The wire uses their index, so new ones are added at the end. The last three are from another node, which refused the connection. */
const results = [
  'connected',
  'refused',
  'host-unreachable',
  'network-unreachable',
  'timeout',
  'unknown-name',
  'forbidden',
  'failed',
  'exhausted',
  'crowded',
  'offline',
] as const;

/** The result of a dial: the first byte that the agent sends on a stream opened with the request `dial`. */
export type DialResult = (typeof results)[number];

const byErrno: Readonly<Record<string, DialResult>> = {
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'host-unreachable',
  EHOSTDOWN: 'host-unreachable',
  ENETUNREACH: 'network-unreachable',
  ENETDOWN: 'network-unreachable',
  EADDRNOTAVAIL: 'network-unreachable',
  EAFNOSUPPORT: 'network-unreachable',
  ETIMEDOUT: 'timeout',
  ENOTFOUND: 'unknown-name',
  ENODATA: 'unknown-name',
  EAI_AGAIN: 'unknown-name',
  EACCES: 'forbidden',
  EPERM: 'forbidden',
};

/** Why a dial failed, by the system's error. When a name has several addresses, the error of the first one counts. */
export function dialFailure(error: unknown): DialResult {
  return byErrno[errnoOf(error)] ?? 'failed';
}

/** The byte on the wire. */
export function encodeDialResult(result: DialResult): Buffer {
  return Buffer.of(results.indexOf(result));
}

/** Reads the byte; an unknown one, from a newer agent, is a failure. */
export function decodeDialResult(byte: number | undefined): DialResult {
  return results[byte ?? -1] ?? 'failed';
}
