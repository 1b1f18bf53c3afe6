import * as z from 'zod';
import { entryName, MAX_ENTRY_BYTES } from './declared.ts';
import { label, value, values } from './peer-text.ts';

const text = value(MAX_ENTRY_BYTES);
const remark = label(MAX_ENTRY_BYTES);
const texts = values(5000, MAX_ENTRY_BYTES);

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
  z.object({ type: z.literal('tunnel'), name: entryName, tunnel: declaredTunnel }),
  z.object({ type: z.literal('host'), name: entryName, host: declaredHost }),
  z.object({ type: z.literal('withdraw'), kind: z.enum(['tunnel', 'host']), name: entryName }),
]);
/** @see declarationSchema */
export type Declaration = z.output<typeof declarationSchema>;

const declarationType = z.object({ type: z.enum(['tunnel', 'host', 'withdraw']) });
const declarationName = z.union([
  z.object({ type: z.enum(['tunnel', 'host']), name: entryName }).transform(({ type, name: entry }) => ({ kind: type, name: entry })),
  z.object({ type: z.literal('withdraw'), kind: z.enum(['tunnel', 'host']), name: entryName }).transform(({ kind, name: entry }) => ({ kind, name: entry })),
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
