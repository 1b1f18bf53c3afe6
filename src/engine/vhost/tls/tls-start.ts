import type { PairOrigin } from '../../../wire/socket-pair.ts';
import { readClientHello } from './client-hello.ts';
import { readProxyPreface } from '../proxy-preface.ts';

/** A hello after `length` bytes of a header: its server name, "" = none, and the client's address, undefined = the peer's. */
export interface TlsHello {
  readonly kind: 'hello';
  readonly length: number;
  readonly serverName: string;
  readonly origin: PairOrigin | undefined;
}

/** How a connection on a TLS port begins. */
export type TlsStart =
  /** Read on. */
  | { readonly kind: 'incomplete' }
  /** The connection is invalid: the header of the PROXY protocol or the ClientHello is malformed. */
  | { readonly kind: 'invalidHeader' | 'invalidHello' }
  | TlsHello;

/** Reads the first bytes of a connection. @param trusted the peer is a trusted proxy, which may send a header */
export function readTlsStart(bytes: Buffer, trusted: boolean): TlsStart {
  const preface = trusted ? readProxyPreface(bytes) : undefined;
  if (preface?.kind === 'incomplete') return preface;
  if (preface?.kind === 'invalid') return { kind: 'invalidHeader' };
  const { length, origin } = preface?.kind === 'header' ? preface : { length: 0, origin: undefined };
  const hello = readClientHello(bytes.subarray(length));
  if (hello.kind === 'hello') return { kind: 'hello', length, origin, serverName: hello.serverName };
  return hello.kind === 'incomplete' ? hello : { kind: 'invalidHello' };
}
