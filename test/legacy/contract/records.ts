import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from '@jest/globals';
import { hashPassword } from '../../../src/schema/access/password.ts';
import { newToken } from '../../../src/schema/access/tokens.ts';
import type { Shaped } from '../../../src/legacy/shapes.ts';
import { wantedState } from '../../../src/schema/writes/engine-changes.ts';
import { allOf } from '../../support/all-of.ts';
import type { Api } from '../../support/api.ts';
import { covering } from '../../support/certificates.ts';
import { StoreCopy, type Differences } from '../../support/store-copy.ts';
import type { CallerName } from './row.ts';

/* The records that the contract's calls are about, as the store has them and as they are answered (contract 1). */

/** The password of alice and of the web login. */
export const password = 'the password of alice';
/** A port that another program has. */
export const takenPort = 9999;
/** A text of a time, whichever. */
export const someTime = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
const directory = path.join(tmpdir(), `adit-contract-${process.pid}`);
/** Certificate and key for *.p.example.com. */
export const files = { CertFilePath: path.join(directory, 'cert.pem'), KeyFilePath: path.join(directory, 'key.pem') };
const made = new Date(2026, 10, 21, 9, 30);
const madeText = '2026-11-21 09:30:00';

/** A client of which nothing is said. */
export const plainClient = {
  Id: 0,
  UserId: 0,
  UserName: '',
  VerifyKey: expect.stringMatching(/^[\w-]{20,}$/),
  Addr: '',
  LocalAddr: '',
  Remark: '',
  Status: true,
  IsConnect: false,
  RateLimit: 0,
  Flow: { ExportFlow: 0, InletFlow: 0, FlowLimit: 0 },
  Rate: { NowRate: 0 },
  NoStore: false,
  NoDisplay: false,
  MaxConn: 0,
  NowConn: 0,
  ConfigConnAllow: false,
  MaxTunnelNum: 0,
  Version: '',
  BlackIpList: [],
  IpWhite: false,
  IpWhitePass: '',
  IpWhiteList: [],
  CreateTime: someTime,
  LastOnlineTime: '',
  ExpireTime: '',
  UserExpireTime: '',
  EffectiveExpireTime: '',
  Cnf: { U: '', P: '', Compress: false, Crypt: false },
  WebUserName: '',
  WebPassword: '',
} satisfies Record<keyof Shaped<'Client'>, unknown>;
const stored = { ...plainClient, CreateTime: madeText };
export const clients = {
  1: { ...stored, Id: 1, VerifyKey: 'key-1', Remark: 'office', Cnf: { U: 'basic', P: '', Compress: false, Crypt: false }, WebUserName: 'web' },
  2: {
    ...stored,
    Id: 2,
    VerifyKey: 'key-2',
    Remark: 'shop',
    UserId: 1,
    UserName: 'alice',
    ExpireTime: '2030-06-01 00:00:00',
    EffectiveExpireTime: '2030-06-01 00:00:00',
  },
  3: {
    ...stored,
    Id: 3,
    VerifyKey: 'key-3',
    Remark: 'bobs',
    UserId: 2,
    UserName: 'bob',
    UserExpireTime: '2031-01-01 00:00:00',
    EffectiveExpireTime: '2031-01-01 00:00:00',
  },
  4: { ...stored, Id: 4, VerifyKey: 'key-4', Remark: 'limited', UserId: 1, UserName: 'alice', MaxTunnelNum: 1 },
};

export const plainUser = {
  Id: 0,
  UserName: '',
  Password: '',
  Status: true,
  Remark: '',
  ClientCount: 0,
  TunnelCount: 0,
  MaxClientNum: 0,
  MaxTunnelNum: 0,
  ExpireTime: '',
  CreateTime: someTime,
} satisfies Record<keyof Shaped<'User'>, unknown>;
export const users = {
  1: { ...plainUser, Id: 1, UserName: 'alice', Remark: 'first', ClientCount: 2, TunnelCount: 1, CreateTime: madeText },
  2: {
    ...plainUser,
    Id: 2,
    UserName: 'bob',
    ClientCount: 1,
    TunnelCount: 2,
    MaxClientNum: 1,
    MaxTunnelNum: 2,
    ExpireTime: '2031-01-01 00:00:00',
    CreateTime: madeText,
  },
};

/** A tunnel of client 1 of which nothing is said. */
export const plainTunnel = {
  Id: 0,
  Port: 0,
  ServerIp: '',
  Mode: 'tcp',
  Status: true,
  RunStatus: true,
  Client: clients[1],
  Ports: '',
  Flow: { ExportFlow: 0, InletFlow: 0, FlowLimit: 0 },
  Password: '',
  Remark: '',
  TargetAddr: '',
  NoStore: false,
  LocalPath: '',
  StripPre: '',
  ProtoVersion: '',
  Target: { TargetStr: '', TargetArr: [], LocalProxy: false },
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
} satisfies Record<keyof Shaped<'Tunnel'>, unknown>;
export const sshTarget = { TargetStr: '127.0.0.1:22', TargetArr: ['127.0.0.1:22'], LocalProxy: false };
export const tunnels = {
  1: { ...plainTunnel, Id: 1, Port: 9001, Remark: 'ssh', Target: sshTarget },
  2: { ...plainTunnel, Id: 2, Mode: 'secret', Password: 'visitors', Remark: 'hidden', Target: sshTarget },
  3: { ...plainTunnel, Id: 3, Mode: 'udp', Port: 9003, Remark: 'dns', Client: clients[3] },
  4: { ...plainTunnel, Id: 4, Port: 9004, Remark: 'only', Client: clients[4] },
};

/** A host of client 1 of which nothing is said. */
export const plainHost = {
  Id: 0,
  Host: '',
  PlatformDomainID: '',
  PlatformManaged: false,
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
  Client: { Id: 1, Remark: 'office', IsConnect: false },
  Target: { TargetStr: '', TargetArr: [], LocalProxy: false },
} satisfies Record<keyof Shaped<'Host'>, unknown>;
export const webTarget = { TargetStr: '127.0.0.1:80', TargetArr: ['127.0.0.1:80'], LocalProxy: false };
export const hosts = {
  1: { ...plainHost, Id: 1, Host: 'app.example.com', Remark: 'web', Target: webTarget },
  2: {
    ...plainHost,
    Id: 2,
    Host: 'taken.h.example.com',
    PlatformDomainID: 'd',
    PlatformManaged: true,
    Scheme: 'http',
    Remark: 'bobs web',
    Client: { Id: 3, Remark: 'bobs', IsConnect: false },
  },
  3: { ...plainHost, Id: 3, Host: '*.x.own.com', Remark: 'all below' },
  4: { ...plainHost, Id: 4, Host: 'safe.p.example.com', PlatformDomainID: 't', PlatformManaged: true, Remark: 'with certificate', ...files },
  5: { ...plainHost, Id: 5, Host: 'old.h.example.com', Remark: 'older than the domain', Flow: { ExportFlow: 4, InletFlow: 3, FlowLimit: 0 } },
};

/** The platform domains: that of d has no certificate, that of e can't be loaded. */
export const domains = [
  {
    ID: 'e',
    Wildcard: '*.e.example.com',
    CertFilePath: '/nowhere/cert.pem',
    KeyFilePath: '/nowhere/key.pem',
    Status: 'cannot load',
    ExpiresAt: '',
    DaysRemaining: 0,
    ReferenceCount: 0,
    Readable: false,
  },
  {
    ID: 'd',
    Wildcard: '*.h.example.com',
    CertFilePath: '',
    KeyFilePath: '',
    Status: 'no certificate, HTTP only',
    ExpiresAt: '',
    DaysRemaining: 0,
    ReferenceCount: 1,
    Readable: false,
  },
  {
    ID: 't',
    Wildcard: '*.p.example.com',
    ...files,
    Status: 'valid',
    ExpiresAt: someTime,
    DaysRemaining: expect.any(Number),
    ReferenceCount: 1,
    Readable: true,
  },
] as const;

/** The records in a server, ready to be called about. */
export interface Records {
  /** The headers by which somebody else than the administrator calls. */
  readonly as: Readonly<Record<CallerName, Readonly<Record<string, string>>>>;
  /** Makes everything as it was. */
  restore(): Promise<void>;
  /** What is another than it was. */
  differences(): Differences;
  /** Removes what was made beside the store. */
  close(): Promise<void>;
}

/** Makes the records. */
export async function openRecords(api: Api): Promise<Records> {
  await api.reset(); // the kept totals of an empty store
  const { token, hash } = newToken();
  await seed(api, await hashPassword(password), hash);
  const login = await api.call('/login/verify', { username: 'web', password });
  const copy = await StoreCopy.of(api.store);
  const tunnels = await allOf(wantedState(await api.store.loadEngineState()).tunnels);
  return {
    as: { alice: { authorization: `Bearer ${token}` }, 'web login': { cookie: login.headers.get('set-cookie')?.split(';')[0] ?? '' } },
    async restore() {
      await copy.restore();
      api.forget();
      api.engine.taken.add(takenPort);
      for (const { wanted } of tunnels) api.engine.wantedTunnels.set(wanted.id, wanted);
    },
    differences: () => copy.differences(),
    close: () => rm(directory, { recursive: true }),
  };
}

async function seed({ store: { db } }: Api, passwordHash: string, tokenHash: string): Promise<void> {
  const createdAt = made;
  await db.user.createMany({
    data: [
      { id: 1, username: 'alice', passwordHash, remark: 'first', createdAt },
      { id: 2, username: 'bob', passwordHash, maxClients: 1, maxTunnels: 2, expiresAt: new Date(2031, 0, 1), createdAt },
    ],
  });
  await db.client.createMany({
    data: [
      {
        id: 1,
        vkey: 'key-1',
        remark: 'office',
        basicUser: 'basic',
        basicPassword: 'basic password',
        webUsername: 'web',
        webPasswordHash: passwordHash,
        createdAt,
      },
      { id: 2, vkey: 'key-2', remark: 'shop', userId: 1, expiresAt: new Date(2030, 5, 1), createdAt },
      { id: 3, vkey: 'key-3', remark: 'bobs', userId: 2, createdAt },
      { id: 4, vkey: 'key-4', remark: 'limited', userId: 1, maxTunnels: 1, createdAt },
    ],
  });
  await db.tunnel.createMany({
    data: [
      { id: 1, clientId: 1, mode: 'tcp', port: 9001, remark: 'ssh', target: '127.0.0.1:22', createdAt },
      { id: 2, clientId: 1, mode: 'secret', password: 'visitors', remark: 'hidden', target: '127.0.0.1:22', createdAt },
      { id: 3, clientId: 3, mode: 'udp', port: 9003, remark: 'dns', createdAt },
      { id: 4, clientId: 4, mode: 'tcp', port: 9004, remark: 'only', createdAt },
    ],
  });
  await mkdir(directory, { recursive: true });
  await Promise.all([writeFile(files.CertFilePath, covering.certificate), writeFile(files.KeyFilePath, covering.key)]);
  const t = { certFilePath: files.CertFilePath, keyFilePath: files.KeyFilePath };
  await db.platformDomain.createMany({
    data: [
      { id: 'd', wildcard: '*.h.example.com' },
      { id: 't', wildcard: '*.p.example.com', ...t },
      { id: 'e', wildcard: '*.e.example.com', certFilePath: '/nowhere/cert.pem', keyFilePath: '/nowhere/key.pem' },
    ],
  });
  await db.host.createMany({
    data: [
      { id: 1, clientId: 1, host: 'app.example.com', remark: 'web', target: '127.0.0.1:80', createdAt },
      { id: 2, clientId: 3, host: 'taken.h.example.com', platformDomainId: 'd', platformPrefix: 'taken', scheme: 'http', remark: 'bobs web', createdAt },
      { id: 3, clientId: 1, host: '*.x.own.com', remark: 'all below', createdAt },
      { id: 4, clientId: 1, host: 'safe.p.example.com', platformDomainId: 't', platformPrefix: 'safe', remark: 'with certificate', ...t, createdAt },
      { id: 5, clientId: 1, host: 'old.h.example.com', remark: 'older than the domain', inletBytes: 3, exportBytes: 4, createdAt },
    ],
  });
  await db.globalSettings.create({ data: { id: 1, blackIpList: '192.0.2.1', serverUrl: 'https://adit.example.com' } });
  await db.apiToken.createMany({
    data: [
      { id: 1, name: 'test', hash: tokenHash, userId: 1 },
      { id: 2, name: 'API key', hash: 'legacy', userId: 1, legacy: true, createdAt },
    ],
  });
}
