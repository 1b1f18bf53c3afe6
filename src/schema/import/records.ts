import * as z from 'zod';

/*
 * Records of another server, as an import passes them to the schema. Texts and numbers have the form of the inputs of the schema; times are in ms since
 * 1970, null = none. They are parsed once: when a running server receives them, or else where the program reads the folder.
 */

const id = z.int().min(1).max(2 ** 31 - 1);
const whole = z.int().min(0).max(2 ** 31 - 1);
const bytes = z.int().min(0);
const time = z.int().nullable();
const text = z.string();
const texts = z.array(z.string());
/** Where the record is, for messages: file and id. */
const source = z.string();
const counters = { inletBytes: bytes, exportBytes: bytes };

const user = z.strictObject({
  kind: z.literal('user'),
  source,
  id,
  username: text,
  /** In clear text; "" = none, so that nobody can log in before an administrator sets one. */
  password: text,
  enabled: z.boolean(),
  remark: text,
  maxClients: whole,
  maxTunnels: whole,
  expiresAt: time,
  createdAt: time,
  /** SHA-256 of an API token, in hex; "" = none. */
  tokenHash: text,
});

const client = z.strictObject({
  kind: z.literal('client'),
  source,
  id,
  /** 0 = none */
  ownerId: z.int().min(0),
  verifyKey: text,
  remark: text,
  enabled: z.boolean(),
  basicUser: text,
  basicPassword: text,
  compress: z.boolean(),
  encrypt: z.boolean(),
  configAllowed: z.boolean(),
  rateLimit: whole,
  flowLimit: whole,
  maxConnections: whole,
  maxTunnels: whole,
  webUsername: text,
  /** In clear text. */
  webPassword: text,
  blocklist: texts,
  allowlistEnabled: z.boolean(),
  allowlistPassword: text,
  allowlist: texts,
  expiresAt: time,
  createdAt: time,
  lastOnlineAt: time,
  lastAddress: text,
  localAddress: text,
  agentVersion: text,
  ...counters,
});

const tunnel = z.strictObject({
  kind: z.literal('tunnel'),
  source,
  id,
  clientId: z.int(),
  mode: z.enum(['tcp', 'udp', 'httpProxy', 'socks5', 'secret', 'p2p', 'file']),
  remark: text,
  port: z.int().min(0).max(65535),
  serverIp: text,
  targets: texts,
  localProxy: z.boolean(),
  password: text,
  localPath: text,
  stripPrefix: text,
  proxyProtocol: z.enum(['', 'V1', 'V2']),
  accounts: z.array(z.strictObject({ user: text, password: text })),
  enabled: z.boolean(),
  ...counters,
});

const host = z.strictObject({
  kind: z.literal('host'),
  source,
  id,
  clientId: z.int(),
  host: text,
  location: text,
  scheme: z.enum(['all', 'http', 'https']),
  remark: text,
  targets: texts,
  localProxy: z.boolean(),
  headers: texts,
  hostChange: text,
  certificate: text,
  privateKey: text,
  autoHttps: z.boolean(),
  acme: z.boolean(),
  /** "" = a custom host */
  platformDomainId: text,
  enabled: z.boolean(),
  ...counters,
});

const platformDomain = z.strictObject({ kind: z.literal('platformDomain'), source, id: text, wildcard: text, certificatePath: text, privateKeyPath: text });

const globalSettings = z.strictObject({ kind: z.literal('globalSettings'), source, blocklist: texts, serverUrl: text });

/** Ids of records that are not imported: no new record gets them, and an update doesn't count these records as missing. */
const leftOut = z.strictObject({ kind: z.literal('leftOut'), of: z.enum(['user', 'client', 'tunnel', 'host']), ids: z.array(id) });

/** A record to import. */
export const importRecord = z.discriminatedUnion('kind', [user, client, tunnel, host, platformDomain, globalSettings, leftOut]);
/** @see importRecord */
export type ImportRecord = z.output<typeof importRecord>;
/** A record of one kind. */
export type Imported<Kind extends ImportRecord['kind']> = Extract<ImportRecord, { readonly kind: Kind }>;

/** All records of an import. */
export class ImportSet {
  readonly users: Array<Imported<'user'>> = [];
  readonly clients: Array<Imported<'client'>> = [];
  readonly tunnels: Array<Imported<'tunnel'>> = [];
  readonly hosts: Array<Imported<'host'>> = [];
  readonly platformDomains: Array<Imported<'platformDomain'>> = [];
  globalSettings: Imported<'globalSettings'> | undefined;
  /** The ids of records that are not imported. */
  readonly leftOut = { user: new Set<number>(), client: new Set<number>(), tunnel: new Set<number>(), host: new Set<number>() };

  /** The number of records. */
  get size(): number {
    return this.users.length + this.clients.length + this.tunnels.length + this.hosts.length + this.platformDomains.length;
  }

  /** Adds a record. */
  add(record: ImportRecord): void {
    switch (record.kind) {
      case 'user':
        this.users.push(record);
        break;
      case 'client':
        this.clients.push(record);
        break;
      case 'tunnel':
        this.tunnels.push(record);
        break;
      case 'host':
        this.hosts.push(record);
        break;
      case 'platformDomain':
        this.platformDomains.push(record);
        break;
      case 'globalSettings':
        this.globalSettings = record;
        break;
      case 'leftOut':
        for (const id of record.ids) this.leftOut[record.of].add(id);
    }
  }

  /** All records, in the order in which they can be added. */
  *all(): Generator<ImportRecord> {
    yield* this.users;
    yield* this.clients;
    yield* this.tunnels;
    yield* this.hosts;
    yield* this.platformDomains;
    if (this.globalSettings !== undefined) yield this.globalSettings;
    for (const kind of ['user', 'client', 'tunnel', 'host'] as const) {
      const ids = [...this.leftOut[kind]];
      for (let start = 0; start < ids.length; start += 1000) yield { kind: 'leftOut', of: kind, ids: ids.slice(start, start + 1000) };
    }
  }
}
