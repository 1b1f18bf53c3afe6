import * as z from 'zod';
import { label, value, values } from './peer-text.ts';

/** The most tunnels and hosts that one agent may declare. */
export const MAX_DECLARED = 1000;
/** Unanswered declarations of one session: the agent sends no more than this, the server accepts some more. */
export const DECLARED_AT_ONCE = 16;
/** Maximum size of an entry as JSON in bytes: the whole message must fit into a control message. */
export const MAX_ENTRY_BYTES = 60_000;

const text = value(MAX_ENTRY_BYTES);
const remark = label(MAX_ENTRY_BYTES);
const texts = values(5000, MAX_ENTRY_BYTES);
const name = z.string().min(1).max(64).pipe(label(64));

/** A tunnel of an agent's configuration file, as declared to the server, which validates it. */
export const declaredTunnel = z.object({
  mode: z.enum(['tcp', 'udp', 'httpProxy', 'socks5', 'secret', 'p2p', 'file']),
  /** 0 = any free port; an entry that already has a port keeps it. */
  port: z.int().min(0).max(65535),
  serverIp: text,
  targets: texts,
  password: text,
  localPath: text,
  stripPrefix: text,
  proxyProtocol: z.enum(['', 'V1', 'V2']),
  /** The accounts of a proxy's visitors. Agents before 0.2 send none. */
  accounts: z.array(z.object({ user: text, password: text })).max(1000).default([]),
  remark,
});
/** @see declaredTunnel */
export type DeclaredTunnel = z.output<typeof declaredTunnel>;

/** A host of an agent's configuration file, as the agent declares it to the server. */
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
  /** The host gets its certificate by ACME, if the server supports that. */
  acme: z.boolean(),
  remark,
});
/** @see declaredHost */
export type DeclaredHost = z.output<typeof declaredHost>;

/** The kind of an entry. */
export type DeclaredKind = 'tunnel' | 'host';

/** An entry of an agent's configuration file, identified by its kind and name. */
export type DeclaredEntry =
  | { readonly kind: 'tunnel'; readonly name: string; readonly tunnel: DeclaredTunnel }
  | { readonly kind: 'host'; readonly name: string; readonly host: DeclaredHost };

/** Control messages of an agent in configuration-file mode: an entry was added or changed, or was removed. Each gets an answer. */
export const declarationSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('tunnel'), name, tunnel: declaredTunnel }),
  z.object({ type: z.literal('host'), name, host: declaredHost }),
  z.object({ type: z.literal('withdraw'), kind: z.enum(['tunnel', 'host']), name }),
]);
/** @see declarationSchema */
export type Declaration = z.output<typeof declarationSchema>;

const declarationType = z.object({ type: z.enum(['tunnel', 'host', 'withdraw']) });
const declarationName = z.union([
  z.object({ type: z.enum(['tunnel', 'host']), name }).transform(({ type, name: entry }) => ({ kind: type, name: entry })),
  z.object({ type: z.literal('withdraw'), kind: z.enum(['tunnel', 'host']), name }).transform(({ kind, name: entry }) => ({ kind, name: entry })),
]);

/** A declaration with an unknown or a missing field: the agent may have another version. */
export interface UnreadableDeclaration {
  /** The first invalid field and its problem, without its value. */
  readonly problem: string;
  /** The declared entry; undefined = that can't be read either. */
  readonly entry: { readonly kind: DeclaredKind; readonly name: string } | undefined;
}

/** Reads as much as possible of a message that doesn't match {@link declarationSchema}. @returns undefined = not a declaration */
export function readUnreadable(message: unknown): UnreadableDeclaration | undefined {
  if (!declarationType.safeParse(message).success) return undefined;
  const [issue] = declarationSchema.safeParse(message).error?.issues ?? [];
  if (issue === undefined) return undefined;
  return { problem: `${issue.path.join('.')}: ${issue.message}`, entry: declarationName.safeParse(message).data };
}

/** The answer to a declaration. */
export const declaredSchema = z.object({
  type: z.literal('declared'),
  kind: z.enum(['tunnel', 'host']),
  name,
  /** The record; 0 = none. With an error: the previous record, which is unchanged. */
  id: z.int().min(0),
  /** Its port; 0 = it has none. */
  port: z.int().min(0).max(65535),
  /** Why it differs from the declaration; "" = it doesn't. */
  error: label(1000),
});
/** @see declaredSchema */
export type Declared = z.output<typeof declaredSchema>;
