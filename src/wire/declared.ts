import { z } from 'zod';
import { label, value } from './peer-text.ts';

/** Tunnels and hosts that one agent may bring along. */
export const MAX_DECLARED = 1000;
/** Declarations of one session that wait for their answer: the agent sends no more, the server takes some more. */
export const DECLARED_AT_ONCE = 16;
/** The most bytes of an entry as JSON: with what is around it, it has to fit a control message. */
export const MAX_ENTRY_BYTES = 60_000;

const text = value(MAX_ENTRY_BYTES);
const remark = label(MAX_ENTRY_BYTES);
const texts = z.array(text).max(5000);
const name = z.string().min(1).max(64).pipe(label(64));

/** A tunnel of an agent's configuration file, as the server is told of it; what it may hold, the server's rules decide. */
export const declaredTunnel = z.object({
  mode: z.enum(['tcp', 'udp', 'httpProxy', 'socks5', 'secret', 'p2p', 'file']),
  /** 0 = a free one; an entry that has one keeps it then. */
  port: z.int().min(0).max(65535),
  serverIp: text,
  targets: texts,
  password: text,
  localPath: text,
  stripPrefix: text,
  proxyProtocol: z.enum(['', 'V1', 'V2']),
  remark,
});
/** @see declaredTunnel */
export type DeclaredTunnel = z.output<typeof declaredTunnel>;

/** A host of an agent's configuration file, as the server is told of it. */
export const declaredHost = z.object({
  /** "" = platform mode. */
  host: text,
  platformDomainId: text,
  platformPrefix: text,
  location: text,
  scheme: z.enum(['all', 'http', 'https']),
  targets: texts,
  headers: texts,
  hostChange: text,
  /** PEM texts; "" = none. */
  certificate: text,
  privateKey: text,
  autoHttps: z.boolean(),
  /** It gets its certificate by ACME, where the server does that. */
  acme: z.boolean(),
  remark,
});
/** @see declaredHost */
export type DeclaredHost = z.output<typeof declaredHost>;

/** What an entry is. */
export type DeclaredKind = 'tunnel' | 'host';

/** An entry of an agent's configuration file: it is recognised by its kind and name. */
export type DeclaredEntry =
  | { readonly kind: 'tunnel'; readonly name: string; readonly tunnel: DeclaredTunnel }
  | { readonly kind: 'host'; readonly name: string; readonly host: DeclaredHost };

/** Control messages of an agent in configuration-file mode: it has this entry; it has it no more. Each is answered. */
export const declarationSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('tunnel'), name, tunnel: declaredTunnel }),
  z.object({ type: z.literal('host'), name, host: declaredHost }),
  z.object({ type: z.literal('withdraw'), kind: z.enum(['tunnel', 'host']), name }),
]);
/** @see declarationSchema */
export type Declaration = z.output<typeof declarationSchema>;

/** The answer to a declaration. */
export const declaredSchema = z.object({
  type: z.literal('declared'),
  kind: z.enum(['tunnel', 'host']),
  name,
  /** The record; 0 = there is none. With an error: the one before, which stays as it was. */
  id: z.int().min(0),
  /** Its port; 0 = it has none. */
  port: z.int().min(0).max(65535),
  /** Why it is not as declared; "" = it is. */
  error: label(1000),
});
/** @see declaredSchema */
export type Declared = z.output<typeof declaredSchema>;
