import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pino from 'pino';
import { readNpsFolder } from '../../src/migration/nps/folder.ts';
import { withNpsNames } from '../../src/migration/nps/report-text.ts';
import type { ImportReport } from '../../src/schema/import/report.ts';
import { type ImportOptions, importWork } from '../../src/schema/import/run.ts';
import type { SchemaSettings } from '../../src/schema/services.ts';
import { Changes } from '../../src/schema/writes/followed-changes.ts';
import { UnappliedChanges } from '../../src/schema/writes/unapplied-changes.ts';
import { Writes } from '../../src/schema/writes/writes.ts';
import { schemaSettings } from './schema-settings.ts';
import { scratchDirectory } from './scratch.ts';
import type { TestStore } from './test-store.ts';

/** A record as NPS writes it. */
export type NpsRecord = Readonly<Record<string, unknown>>;

/** The files of a data folder; absent = there is no such file. A text is written as it is. */
export interface NpsFiles {
  readonly clients?: readonly NpsRecord[] | string | Buffer;
  readonly tasks?: readonly NpsRecord[] | string | Buffer;
  readonly hosts?: readonly NpsRecord[] | string | Buffer;
  readonly users?: readonly NpsRecord[] | string | Buffer;
  readonly global?: NpsRecord | string | Buffer;
  readonly conf?: string | Buffer;
}

/** Records as NPS writes them. */
export function npsText(records: readonly NpsRecord[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n*#*`).join('');
}

/** Writes a data folder. @returns its path: a directory `conf` in another one */
export function npsFolder({ clients, tasks, hosts, users, global, conf }: NpsFiles, directory = path.join(scratchDirectory(), 'conf')): string {
  mkdirSync(directory, { recursive: true });
  const records = { 'clients.json': clients, 'tasks.json': tasks, 'hosts.json': hosts, 'users.json': users };
  for (const [name, content] of Object.entries(records)) {
    if (content !== undefined) writeFileSync(path.join(directory, name), typeof content === 'string' || Buffer.isBuffer(content) ? content : npsText(content));
  }
  if (global !== undefined) {
    writeFileSync(path.join(directory, 'global.json'), typeof global === 'string' || Buffer.isBuffer(global) ? global : JSON.stringify(global));
  }
  if (conf !== undefined) writeFileSync(path.join(directory, 'nps.conf'), conf);
  return directory;
}

/** A client as NPS writes it. */
export function npsClient(record: NpsRecord = {}): NpsRecord {
  const Id = record['Id'] === undefined ? 2 : Number(record['Id']);
  return {
    Cnf: { U: '', P: '', Compress: false, Crypt: false },
    Id,
    VerifyKey: `key${Id}`,
    Addr: '',
    Remark: '',
    Status: true,
    IsConnect: false,
    RateLimit: 0,
    Flow: { ExportFlow: 0, InletFlow: 0, FlowLimit: 0 },
    NoStore: false,
    NoDisplay: false,
    MaxConn: 0,
    MaxTunnelNum: 0,
    WebUserName: '',
    WebPassword: '',
    ConfigConnAllow: true,
    BlackIpList: [],
    CreateTime: '2024-01-02 03:04:05',
    ...record,
  };
}

/** A tunnel of client 2 as NPS writes it: tcp, started. */
export function npsTunnel(record: NpsRecord = {}): NpsRecord {
  const Id = Number(record['Id'] ?? 5);
  return {
    Id,
    Port: 10_000 + Id,
    ServerIp: '',
    Mode: 'tcp',
    Status: true,
    RunStatus: true,
    Client: { Id: 2 },
    Ports: '',
    Flow: { ExportFlow: 0, InletFlow: 0, FlowLimit: 0 },
    Password: '',
    Remark: '',
    TargetAddr: '',
    NoStore: false,
    LocalPath: '',
    StripPre: '',
    Target: { TargetStr: '127.0.0.1:22', TargetArr: null, LocalProxy: false },
    MultiAccount: null,
    HealthCheckTimeout: 0,
    HealthMaxFail: 0,
    HealthCheckInterval: 0,
    HealthNextTime: '0001-01-01T00:00:00Z',
    HealthMap: null,
    HttpHealthUrl: '',
    HealthRemoveArr: null,
    HealthCheckType: '',
    HealthCheckTarget: '',
    ...record,
  };
}

/** A host of client 2 as NPS writes it. */
export function npsHost(record: NpsRecord = {}): NpsRecord {
  const Id = record['Id'] === undefined ? 3 : Number(record['Id']);
  return {
    Id,
    Host: `h${Id}.example.com`,
    HeaderChange: '',
    HostChange: '',
    Location: '/',
    Remark: '',
    Scheme: 'all',
    CertFilePath: '',
    KeyFilePath: '',
    NoStore: false,
    IsClose: false,
    AutoHttps: false,
    Flow: { ExportFlow: 0, InletFlow: 0, FlowLimit: 0 },
    Client: { Id: 2 },
    Target: { TargetStr: '127.0.0.1:80', TargetArr: null, LocalProxy: false },
    ...record,
  };
}

/** A user as NPS writes it. */
export function npsUser(record: NpsRecord = {}): NpsRecord {
  const Id = record['Id'] === undefined ? 1 : Number(record['Id']);
  return {
    Id,
    UserName: `user${Id}`,
    Password: 'a password',
    Status: true,
    Remark: '',
    MaxClientNum: 0,
    MaxTunnelNum: 0,
    ExpireTime: '',
    CreateTime: '2024-01-02 03:04:05',
    ...record,
  };
}

/** Imports a folder into a store, as the command does. */
export async function importFolder(
  store: TestStore,
  directory: string,
  options: Partial<ImportOptions> = {},
  settings: Partial<SchemaSettings> = {},
): Promise<ImportReport & { readonly remarks: readonly string[] }> {
  const { set, problems, leftOut, notes, remarks } = readNpsFolder(directory);
  const changes = new Changes();
  const unapplied = new UnappliedChanges({ store, changes, log: pino({ level: 'silent' }) });
  const writes = new Writes({ store, changes, unapplied, audited: () => {}, now: Date.now });
  const all = { dryRun: false, merge: false, update: false, skipBroken: false, ...options };
  const work = importWork(set, { problems, leftOut, notes }, all, { dialect: store.dialect, settings: { ...schemaSettings, ...settings }, now: Date.now });
  return { ...withNpsNames(await writes.run({ kind: 'server' }, work, { long: true })), remarks };
}

/** Everything that an import writes. */
export async function everything({ db }: TestStore): Promise<unknown> {
  return {
    users: await db.user.findMany({ orderBy: { id: 'asc' } }),
    clients: await db.client.findMany({ orderBy: { id: 'asc' } }),
    tunnels: await db.tunnel.findMany({ orderBy: { id: 'asc' } }),
    hosts: await db.host.findMany({ orderBy: { id: 'asc' } }),
    domains: await db.platformDomain.findMany({ orderBy: { id: 'asc' } }),
    global: await db.globalSettings.findMany(),
    imported: await db.importedRecord.count(),
    audit: await db.auditEntry.count(),
  };
}
