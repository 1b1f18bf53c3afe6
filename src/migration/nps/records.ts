import * as z from 'zod';

/*
 * The records of a data folder of NPS, of all its lineages. Keys that are missing, null, or have their zero value mean the same. Running state and keys that
 * have no equivalent and no effect are not listed.
 */

const text = z.string('must be a text').nullish().transform((value) => value ?? '');
const flag = z.boolean('must be true or false').nullish().transform((value) => value ?? false);
const whole = z.int('must be a whole number').nullish().transform((value) => value ?? 0);
const id = z.int('must be a whole number').max(2 ** 31 - 1, 'must be below 2^31');
const texts = z.array(z.string('must be a text'), 'must be a list of texts').nullish().transform((value) => value ?? []);
/** A nested object with zero values for null. */
const nested = <T extends z.ZodRawShape>(shape: T) => z.preprocess((value) => value ?? {}, z.object(shape, 'must be an object'));
const flow = nested({ InletFlow: whole, ExportFlow: whole, FlowLimit: whole, TimeLimit: text });
/** Users and passwords. Not as an object: a user may be called `__proto__`. */
const accounts = nested({
  AccountMap: z.preprocess(
    (value) => typeof value === 'object' && !Array.isArray(value) ? Object.entries(value ?? {}) : value ?? [],
    z.array(z.tuple([z.string(), z.string('must be a text')]), 'must be an object'),
  ),
});
const owner = z.object({ Id: id }, 'must be an object with an Id');
const record = 'must be an object';

/** A record of clients.json. */
export const npsClient = z.object({
  Id: id,
  UserId: whole,
  VerifyKey: text,
  Remark: text,
  Status: flag,
  Cnf: nested({ U: text, P: text, Compress: flag, Crypt: flag }),
  RateLimit: whole,
  Flow: flow,
  InletFlow: whole,
  ExportFlow: whole,
  MaxConn: whole,
  MaxTunnelNum: whole,
  ConfigConnAllow: flag,
  WebUserName: text,
  WebPassword: text,
  WebTotpSecret: text,
  BlackIpList: texts,
  IpWhite: flag,
  IpWhitePass: text,
  IpWhiteList: texts,
  ExpireTime: text,
  CreateTime: text,
  LastOnlineTime: text,
  Version: text,
  Addr: text,
  LocalAddr: text,
  NoStore: flag,
  NoDisplay: flag,
}, record);
/** @see npsClient */
export type NpsClient = z.output<typeof npsClient>;

const target = nested({ TargetStr: text, LocalProxy: flag, ProxyProtocol: whole });
const health = {
  HealthCheckInterval: whole,
  HealthCheckTimeout: whole,
  HealthMaxFail: whole,
  HealthCheckType: text,
  HttpHealthUrl: text,
  HealthCheckTarget: text,
};

/** A record of tasks.json. */
export const npsTunnel = z.object({
  Id: id,
  Client: owner,
  Mode: text,
  HttpProxy: flag,
  Socks5Proxy: flag,
  Port: whole.pipe(z.int().min(0, 'must be a port').max(65535, 'must be a port')),
  ServerIp: text,
  Ports: text,
  Status: flag,
  Remark: text,
  Password: text,
  LocalPath: text,
  StripPre: text,
  Target: z.preprocess((value) => value ?? undefined, target.optional()),
  TargetAddr: text,
  ProtoVersion: text,
  MultiAccount: accounts,
  UserAuth: z.unknown().optional(),
  WhitelistPass: text,
  Flow: flow,
  NoStore: flag,
  ...health,
}, record);
/** @see npsTunnel */
export type NpsTunnel = z.output<typeof npsTunnel>;

/** A record of hosts.json. */
export const npsHost = z.object({
  Id: id,
  Client: owner,
  Host: text,
  Location: text,
  Scheme: text,
  Remark: text,
  Target: z.preprocess((value) => value ?? undefined, target.optional()),
  HeaderChange: text,
  HostChange: text,
  CertFilePath: text,
  KeyFilePath: text,
  CertFile: text,
  KeyFile: text,
  AutoHttps: flag,
  IsClose: flag,
  PlatformDomainID: text,
  RespHeaderChange: text,
  PathRewrite: text,
  RedirectURL: text,
  HttpsJustProxy: flag,
  TlsOffload: flag,
  AutoSSL: flag,
  AutoCORS: flag,
  CompatMode: flag,
  TargetIsHttps: flag,
  UserAuth: z.unknown().optional(),
  MultiAccount: accounts,
  Flow: flow,
  NoStore: flag,
  ...health,
}, record);
/** @see npsHost */
export type NpsHost = z.output<typeof npsHost>;

/** A record of users.json. Servers that give users tokens store the SHA-256 of the token under one of the last names. */
export const npsUser = z.object({
  Id: id,
  UserName: text,
  Password: text,
  Status: flag,
  Remark: text,
  MaxClientNum: whole,
  MaxTunnelNum: whole,
  ExpireTime: text,
  CreateTime: text,
  ApiKeyHash: text,
  ApiTokenHash: text,
  ApiTokenDigest: text,
}, record);
/** @see npsUser */
export type NpsUser = z.output<typeof npsUser>;

/** The object in global.json. */
export const npsGlobal = z.object({
  BlackIpList: texts,
  ServerUrl: text,
  PlatformDomains: z.array(z.object({ ID: text, Wildcard: text, CertFilePath: text, KeyFilePath: text }, record), 'must be a list').nullish().transform((
    value,
  ) => value ?? []),
}, record);
