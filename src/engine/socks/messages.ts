import type { Login } from '../../rules/login.ts';
import { parseTarget, type Target } from '../../rules/targets.ts';
import { readSocksAddress, type SocksAddress, socksAddress } from '../../wire/socks-address.ts';
import { formatHostPort } from '../../rules/host-port.ts';

/** The reply codes of RFC 1928 that this server gives by itself; the others are those of failed dials. */
export const Reply = { OK: 0, FAILURE: 1, UNKNOWN_COMMAND: 7, UNKNOWN_ADDRESS: 8 } as const;
/** The authentication methods of RFC 1928. */
export const Method = { NONE: 0, PASSWORD: 2, UNACCEPTABLE: 0xff } as const;

/** A message that is not valid SOCKS5. */
export class SocksError extends Error {
  override readonly name = 'SocksError';
  /** The reply code for the visitor. */
  readonly reply: number;

  constructor(message: string, reply: number = Reply.FAILURE) {
    super(message);
    this.reply = reply;
  }
}

/** The visitor's greeting: the authentication methods that it supports. */
export interface Greeting {
  readonly methods: readonly number[];
  readonly length: number;
}

/** A visitor's request. */
export interface SocksRequest {
  readonly command: 'connect' | 'associate';
  /** host:port; of `associate` the address that datagrams will come from, "" = not known. */
  readonly target: string;
  readonly length: number;
}

const VERSION = 5;
const LOGIN_VERSION = 1;
const COMMANDS: ReadonlyMap<number, SocksRequest['command'] | undefined> = new Map([[1, 'connect'], [3, 'associate']]);
const NAME = 3;
const ADDRESS_TYPES: ReadonlySet<number> = new Set([1, NAME, 4]);

/** Reads the greeting; undefined while bytes are missing. @throws {SocksError} */
export function parseGreeting(bytes: Buffer): Greeting | undefined {
  if (bytes.length > 0 && bytes[0] !== VERSION) throw new SocksError('not SOCKS5');
  const length = 2 + (bytes[1] ?? 0);
  if (bytes.length < 2 || bytes.length < length) return undefined;
  return { methods: [...bytes.subarray(2, length)], length };
}

/** Reads user name and password (RFC 1929); undefined while bytes are missing. @throws {SocksError} */
export function parseLogin(bytes: Buffer): (Login & { readonly length: number }) | undefined {
  if (bytes.length > 0 && bytes[0] !== LOGIN_VERSION) throw new SocksError('not the login of SOCKS5');
  const passwordAt = 2 + (bytes[1] ?? 0);
  const length = passwordAt + 1 + (bytes[passwordAt] ?? 0);
  if (bytes.length < 2 || bytes.length <= passwordAt || bytes.length < length) return undefined;
  return { user: bytes.toString('utf8', 2, passwordAt), password: bytes.toString('utf8', passwordAt + 1, length), length };
}

/** Reads a request; undefined while bytes are missing. @throws {SocksError} */
export function parseRequest(bytes: Buffer): SocksRequest | undefined {
  if (bytes.length > 0 && bytes[0] !== VERSION) throw new SocksError('not SOCKS5');
  if (bytes.length > 2 && bytes[2] !== 0) throw new SocksError('the reserved byte is not 0');
  const address = readAddress(bytes, 3);
  if (!address) return undefined;
  const command = COMMANDS.get(bytes[1] ?? 0);
  if (!command) throw new SocksError('a command that is not known here', Reply.UNKNOWN_COMMAND);
  if (command === 'associate') return { command, target: '', length: address.end };
  const target = targetOf(address);
  if (target === undefined) throw new SocksError('the target is not a host with a port');
  return { command, target, length: address.end };
}

/** A reply; `bound` = the bound address, all zeros if there is none. */
export function formatReply(reply: number, bound: Target = { host: '0.0.0.0', port: 0 }): Buffer {
  return Buffer.concat([Buffer.of(VERSION, reply, 0), socksAddress(bound.host, bound.port)]);
}

/** The message that selects an authentication method. */
export function formatMethod(method: number): Buffer {
  return Buffer.of(VERSION, method);
}

/** Whether the login was right. */
export function formatLoginResult(right: boolean): Buffer {
  return Buffer.of(LOGIN_VERSION, right ? 0 : 1);
}

/** The start of a visitor's datagram, before its address (RFC 1928, 7): two reserved bytes, and 0 for "not a fragment". */
export const DATAGRAM_START = Buffer.alloc(3);

/** The address and payload of a visitor's datagram; undefined = malformed, or a fragment, which is dropped. */
export function parseDatagram(bytes: Buffer): Buffer | undefined {
  if (!bytes.subarray(0, DATAGRAM_START.length).equals(DATAGRAM_START)) return undefined;
  return readSocksAddress(bytes, DATAGRAM_START.length) && bytes.subarray(DATAGRAM_START.length);
}

/** @returns undefined while bytes are missing. @throws {SocksError} */
function readAddress(bytes: Buffer, at: number): SocksAddress | undefined {
  const type = bytes[at];
  if (type !== undefined && !ADDRESS_TYPES.has(type)) throw new SocksError('an address of a type that is not known here', Reply.UNKNOWN_ADDRESS);
  if (type === NAME && bytes[at + 1] === 0) throw new SocksError('an empty name');
  return readSocksAddress(bytes, at);
}

/** host:port for the agent; undefined = invalid. The final dot of an absolute name is removed. */
function targetOf({ host, port }: Target): string | undefined {
  const target = parseTarget(formatHostPort({ host: host.replace(/(?<=.)\.$/, ''), port }));
  return target && formatHostPort(target);
}
