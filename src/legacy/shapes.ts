import * as z from 'zod';

const text = z.string();
const flag = z.boolean();
const whole = z.int();
const flow = z.object({ ExportFlow: whole, InletFlow: whole, FlowLimit: whole });
/** Written as a list. */
const lines: z.ZodType<Iterable<string>> = z.array(text);
const target = z.object({ TargetStr: text, TargetArr: z.array(text), LocalProxy: flag });

const Client = z.object({
  Id: whole,
  UserId: whole,
  UserName: text,
  VerifyKey: text,
  Addr: text,
  LocalAddr: text,
  Remark: text,
  Status: flag,
  IsConnect: flag,
  RateLimit: whole,
  Flow: flow,
  Rate: z.object({ NowRate: whole }),
  NoStore: flag,
  NoDisplay: flag,
  MaxConn: whole,
  NowConn: whole,
  ConfigConnAllow: flag,
  MaxTunnelNum: whole,
  Version: text,
  BlackIpList: lines,
  IpWhite: flag,
  IpWhitePass: text,
  IpWhiteList: lines,
  CreateTime: text,
  LastOnlineTime: text,
  ExpireTime: text,
  UserExpireTime: text,
  EffectiveExpireTime: text,
  Cnf: z.object({ U: text, P: text, Compress: flag, Crypt: flag }),
  WebUserName: text,
  WebPassword: text,
});

const platformDomain = z.object({
  ID: text,
  Wildcard: text,
  CertFilePath: text,
  KeyFilePath: text,
  Status: text,
  ExpiresAt: text,
  DaysRemaining: z.int().nullable(),
  ReferenceCount: whole,
  Readable: flag,
});

/** The shapes of responses, for the API description: the records of contract 1, and further fields of some responses. */
export const shapes = {
  Client,
  ClientRow: Client.extend({ ip: text, bridgeType: text, bridgePort: whole }),
  User: z.object({
    Id: whole,
    UserName: text,
    Password: text,
    Status: flag,
    Remark: text,
    ClientCount: whole,
    TunnelCount: whole,
    MaxClientNum: whole,
    MaxTunnelNum: whole,
    ExpireTime: text,
    CreateTime: text,
  }),
  Tunnel: z.object({
    Id: whole,
    Port: whole,
    ServerIp: text,
    Mode: text,
    Status: flag,
    RunStatus: flag,
    Client,
    Ports: text,
    Flow: flow,
    Password: text,
    Remark: text,
    TargetAddr: text,
    NoStore: flag,
    LocalPath: text,
    StripPre: text,
    ProtoVersion: text,
    Target: target,
    MultiAccount: z.object({ AccountMap: z.record(text, text) }).nullable(),
    HealthCheckTimeout: whole,
    HealthMaxFail: whole,
    HealthCheckInterval: whole,
    HealthNextTime: text,
    HealthMap: z.record(text, whole).nullable(),
    HttpHealthUrl: text,
    HealthRemoveArr: z.array(text).nullable(),
    HealthCheckType: text,
    HealthCheckTarget: text,
  }),
  Host: z.object({
    Id: whole,
    Host: text,
    PlatformDomainID: text,
    PlatformManaged: flag,
    HeaderChange: text,
    HostChange: text,
    Location: text,
    Remark: text,
    Scheme: text,
    CertFilePath: text,
    KeyFilePath: text,
    NoStore: flag,
    IsClose: flag,
    AutoHttps: flag,
    Flow: flow,
    Client: z.object({ Id: whole, Remark: text, IsConnect: flag }),
    Target: target,
  }),
  Time: z.object({ time: whole }),
  EncryptedKey: z.object({ status: whole, crypt_auth_key: text.optional(), crypt_type: text.optional() }),
  Login: z.object({ status: whole, msg: text }),
  AllowedAddresses: z.object({ success: flag, message: text }),
  GlobalSettings: z.object({
    status: whole,
    msg: text,
    globalBlackIpList: text,
    serverUrl: text,
    platform_domains: z.array(platformDomain),
    data: z.object({ BlackIpList: z.array(text), ServerUrl: text, PlatformDomains: z.array(platformDomain) }),
  }),
  Availability: z.object({ available: flag, host: text }),
  Diagnosis: z.object({
    data: z.object({
      host: text,
      path: text,
      scheme: text,
      matched: flag,
      reason: text,
      rule: z.object({
        id: whole,
        host: text,
        location: text,
        scheme: text,
        remark: text,
        client: text,
        clientId: whole,
        clientRemark: text,
        target: text,
        platformManaged: flag,
      }).optional(),
    }),
  }),
  ApiKey: z.object({ api_token: text }),
  ApiKeyStatus: z.object({ status: whole, msg: text, exists: flag, CreateTime: text, LastUsedTime: text }),
} as const;

/** The name of a shape. */
export type ShapeName = keyof typeof shapes;

/** A value with a shape. */
export type Shaped<Name extends ShapeName> = z.infer<(typeof shapes)[Name]>;
