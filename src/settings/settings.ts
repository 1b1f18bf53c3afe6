import * as z from 'zod';
import { sharedHelp } from './shared-help.ts';
import { integer, oneOf, sharedValues } from './shared-values.ts';
import {
  authFailureStatus,
  basePath,
  boolean,
  databaseUrl,
  email,
  filePath,
  host,
  httpsUrl,
  networks,
  nodeName,
  optionalFilePath,
  optionalHost,
  optionalIp,
  optionalPort,
  port,
  portRanges,
  secret,
  text,
  webUrl,
} from './values.ts';

/** The texts of a setting; zod contains its type and default. */
export interface SettingInfo {
  /** The description in `--help` and docs/settings.md. */
  readonly help: string;
  /** The placeholder of its value in `--help`. */
  readonly value: string;
  /** Never printed; the name of a file that contains it can be passed instead. */
  readonly secret?: boolean;
  /** Several servers of an installation must have the same value, since it changes what visitors, agents or callers get. They compare it (common-settings.ts). */
  readonly common?: boolean;
}

const settingInfo = z.registry<SettingInfo>();

/**
 * Every setting of the server: its type, default and description. The flag, the environment variable and the key in adit.toml are derived
 * from the property's name, so a new setting is one line here. The three secrets without a default are generated at the first
 * start (src/settings/secrets.ts).
 */
export const settingsSchema = z.object({
  dataDir: filePath.prefault('./data').register(settingInfo, { value: 'DIR', help: 'where the database and the generated secrets are kept' }),
  httpHost: host.prefault('127.0.0.1').register(settingInfo, { value: 'HOST', help: 'address of the HTTP API' }),
  httpPort: port.prefault(8080).register(settingInfo, { value: 'PORT', help: 'port of the HTTP API' }),
  httpTls: oneOf(['off', 'self-signed', 'acme']).prefault('off').register(settingInfo, {
    common: true,
    value: 'HOW',
    help:
      'HTTPS on the port of the API without certificate files: self-signed = with a certificate that is generated at the first start, whose pin the server prints; acme = with one for the name in public_url (needs acme = true)',
  }),
  httpTlsCert: optionalFilePath.prefault('').register(settingInfo, {
    value: 'FILE',
    help: 'PEM file with the certificate of the API, and its chain: the API is then served over HTTPS; reloaded when it changes',
  }),
  httpTlsKey: optionalFilePath.prefault('').register(settingInfo, { value: 'FILE', help: 'PEM file with the private key of that certificate' }),
  httpRedirectPort: optionalPort.prefault('').register(settingInfo, {
    value: 'PORT',
    help: 'port that redirects plain HTTP requests to the HTTPS of the API; empty = none',
  }),
  basePath: basePath.prefault('').register(settingInfo, { common: true, value: 'PATH', help: 'path prefix of every HTTP route, such as /adit' }),
  publicUrl: webUrl.prefault('').register(settingInfo, {
    common: true,
    value: 'URL',
    help: 'URL at which the API is reached from outside, such as https://panel.example.com; users cannot create a host with its name; empty = unknown',
  }),
  bridgeHost: host.prefault('0.0.0.0').register(settingInfo, { value: 'HOST', help: 'address that agents connect to' }),
  bridgePort: port.prefault(8024).register(settingInfo, { value: 'PORT', help: 'port that agents connect to' }),
  bridgeTlsPort: port.prefault(8025).register(settingInfo, { value: 'PORT', help: 'port that agents connect to over TLS 1.3' }),
  bridgeTlsCert: optionalFilePath.prefault('').register(settingInfo, {
    value: 'FILE',
    help: 'PEM file with the certificate that agents receive over TLS; empty = generated at the first start',
  }),
  bridgeTlsKey: optionalFilePath.prefault('').register(settingInfo, { value: 'FILE', help: 'PEM file with the private key of that certificate' }),
  vhostHost: host.prefault('0.0.0.0').register(settingInfo, { value: 'HOST', help: 'address that visitors of hosts connect to' }),
  vhostHttpPort: port.prefault(8000).register(settingInfo, { value: 'PORT', help: 'port of the HTTP hosts' }),
  vhostHttpsPort: port.prefault(8443).register(settingInfo, { value: 'PORT', help: 'port of the HTTPS hosts' }),
  acme: boolean.prefault(false).register(settingInfo, {
    common: true,
    value: 'BOOLEAN',
    help: "get certificates by ACME for hosts that request it; with true you also agree to the authority's terms",
  }),
  acmeDirectory: httpsUrl.prefault('https://acme-v02.api.letsencrypt.org/directory').register(settingInfo, {
    common: true,
    value: 'URL',
    help: 'directory URL of the certificate authority',
  }),
  acmeEmail: email.prefault('').register(settingInfo, { value: 'ADDRESS', help: 'contact address for the certificate authority; empty = none' }),
  acmeCa: optionalFilePath.prefault('').register(settingInfo, {
    value: 'FILE',
    help: "PEM file with the CA that signed the directory's own TLS certificate; empty = the CAs built into Node",
  }),
  p2pPort: port.prefault(6000).register(settingInfo, {
    common: true,
    value: 'PORT',
    help: 'UDP and TCP port through which p2p tunnels find direct paths; the next port is also used (UDP); opened when the first p2p visitor needs it',
  }),
  databaseUrl: databaseUrl.prefault('').register(settingInfo, { value: 'URL', secret: true, help: 'postgresql://... ; empty = SQLite in the data directory' }),
  authKey: secret.trim().register(settingInfo, {
    common: true,
    value: 'KEY',
    secret: true,
    help: 'key that signs API calls; set to empty = no signed calls; not set = generated at the first start',
  }),
  authCryptKey: secret.register(settingInfo, {
    common: true,
    value: 'KEY',
    secret: true,
    help: '16 characters with which /auth/getauthkey/ encrypts the key; any other length disables that endpoint; not set = generated at the first start',
  }),
  adminUsername: text.prefault('admin').register(settingInfo, { common: true, value: 'NAME', help: "the administrator's login name" }),
  adminPassword: secret.min(6, 'must have at least 6 characters').register(settingInfo, {
    common: true,
    value: 'TEXT',
    secret: true,
    help: "the administrator's password; not set = generated at the first start",
  }),
  node: nodeName.prefault('').register(settingInfo, {
    value: 'NAME',
    help: 'name of this server among those that have used its database; empty = the host name of the first start, kept in the data directory',
  }),
  nodeAddress: optionalHost.prefault('').register(settingInfo, {
    value: 'HOST',
    help:
      'IP address or host name at which other servers on the same PostgreSQL database reach the bridge of this one, over TLS; needed if there is more than one',
  }),
  nodeLinks: oneOf(['tls', 'plain']).prefault('tls').register(settingInfo, {
    common: true,
    value: 'HOW',
    help:
      "how servers on one database send visitors' traffic to each other: tls = encrypted; plain = connections with much traffic unencrypted, over bridge_port, which takes less CPU and needs a network that nobody else can read or change, and no server with several processes; the traffic of clients with `encrypt` is always encrypted",
  }),
  processes: integer(1, 64).prefault(1).register(settingInfo, {
    value: 'NUMBER',
    help: 'how many processes of this server run on this machine, on the same ports, so that it uses more than one core; more than 1 needs PostgreSQL',
  }),
  linkPort: port.prefault(0).register(settingInfo, {
    value: 'PORT',
    help:
      'with several processes: the first of the ports, one for each, on which other servers and the other processes reach one of them over TLS; 0 = any free ports',
  }),
  processHttpPort: optionalPort.prefault('').register(settingInfo, {
    value: 'PORT',
    help: 'with several processes: the first of the ports, one for each, at which the API of one of them alone is reached, for /metrics; empty = none',
  }),
  invitation: secret.trim().prefault('').register(settingInfo, {
    value: 'TEXT',
    secret: true,
    help:
      'what `adit nodes invite` prints on another server of the installation: this server then uses the secrets and the certificate that are stored in the PostgreSQL database; needed once',
  }),
  tunnelHost: optionalIp.prefault('').register(settingInfo, {
    value: 'ADDRESS',
    help: 'IP address on which tunnels without a server address of their own listen; empty = all addresses of the machine',
  }),
  allowPorts: portRanges.prefault('').register(settingInfo, {
    common: true,
    value: 'PORTS',
    help: 'ports that tunnels may use, such as 9001-9009,10001; empty = all',
  }),
  allowLocalProxy: boolean.prefault(false).register(settingInfo, {
    common: true,
    value: 'BOOLEAN',
    help: "allow tunnels to targets on the server's own machine (local_proxy)",
  }),
  allowVkeyLogin: boolean.prefault(false).register(settingInfo, {
    common: true,
    value: 'BOOLEAN',
    help: "allow logging in as `user` with an agent's key as the password, for clients that no user owns and that have no web login",
  }),
  trustedProxies: networks.prefault('').register(settingInfo, {
    common: true,
    value: 'LIST',
    help: 'IP addresses and networks of trusted proxies: the API and the hosts believe their X-Forwarded-For, the hosts also their PROXY protocol headers',
  }),
  logLevel: sharedValues.logLevel.register(settingInfo, {
    value: 'LEVELS',
    help: sharedHelp.logLevel,
  }),
  logFormat: sharedValues.logFormat.register(settingInfo, { value: 'FORMAT', help: sharedHelp.logFormat }),
  sockets: sharedValues.sockets.register(settingInfo, {
    value: 'WAY',
    help: sharedHelp.sockets,
  }),
  apiAuthFailureStatus: authFailureStatus.prefault('401').register(settingInfo, {
    common: true,
    value: 'STATUS',
    help: 'status of the response to API calls without a valid signature: 401, or 302 to redirect to the login page as NPS does',
  }),
  auditDays: integer(1, 36_500, 'days').prefault(365).register(settingInfo, {
    common: true,
    value: 'DAYS',
    help: 'how long entries of the audit log are kept',
  }),
  trafficMinuteDays: integer(1, 36_500, 'days').prefault(2).register(settingInfo, { common: true, value: 'DAYS', help: 'how long traffic per minute is kept' }),
  trafficHourDays: integer(1, 36_500, 'days').prefault(60).register(settingInfo, { common: true, value: 'DAYS', help: 'how long traffic per hour is kept' }),
  trafficDayDays: integer(1, 36_500, 'days').prefault(1100).register(settingInfo, { common: true, value: 'DAYS', help: 'how long traffic per day is kept' }),
  udpIdleSeconds: integer(1, 86_400, 'seconds').prefault(60).register(settingInfo, {
    common: true,
    value: 'SECONDS',
    help: 'idle timeout of a session of a udp tunnel',
  }),
  halfClosedSeconds: sharedValues.halfClosedSeconds.register(settingInfo, {
    common: true,
    value: 'SECONDS',
    help: sharedHelp.halfClosedSeconds,
  }),
  dialTimeoutSeconds: integer(1, 60, 'seconds').prefault(10).register(settingInfo, {
    common: true,
    value: 'SECONDS',
    help:
      'timeout for connecting to a target of a host, or to a target that the visitor of a proxy names; for hosts whose TLS is passed through it is always 5 s, as for tunnels',
  }),
  vhostHeadSeconds: integer(1, 600, 'seconds').prefault(10).register(settingInfo, {
    common: true,
    value: 'SECONDS',
    help: 'timeout for reading the head of a request to a host',
  }),
  vhostIdleSeconds: integer(1, 86_400, 'seconds').prefault(60).register(settingInfo, {
    common: true,
    value: 'SECONDS',
    help: 'how long a visitor of a host may keep an idle HTTP/1.1 connection open (keep-alive timeout)',
  }),
  vhostResponseSeconds: integer(1, 86_400, 'seconds').prefault(60).register(settingInfo, {
    common: true,
    value: 'SECONDS',
    help: "timeout for the beginning of a response from a host's target",
  }),
  vhostMaxHeadBytes: integer(1024, 1_048_576, 'bytes').prefault(32_768).register(settingInfo, {
    common: true,
    value: 'BYTES',
    help: 'maximum size of the head of an HTTP/1.1 request to a host',
  }),
  vhostMaxHeaders: integer(8, 1000).prefault(128).register(settingInfo, {
    common: true,
    value: 'NUMBER',
    help: 'maximum number of header fields of a request to a host',
  }),
  drainSeconds: integer(0, 3600, 'seconds').prefault(30).register(settingInfo, {
    value: 'SECONDS',
    help: 'how long open connections may continue after SIGTERM',
  }),
  leaveSeconds: integer(0, 3600, 'seconds').prefault(5).register(settingInfo, {
    value: 'SECONDS',
    help:
      'only if there are other servers: how long ports stay open after SIGTERM, so that load balancers notice that /readyz fails, and agents and visitor programs go to other servers; up to twice as long while one has not gone',
  }),
});

/** The settings of a running server. */
export type Settings = z.output<typeof settingsSchema>;

/** The name of a setting, as a property of `Settings`. */
export type SettingName = keyof Settings;

/** All setting names, in the order of the help. */
export const settingNames: readonly SettingName[] = settingsSchema.keyof().options;

/** The texts of a setting. @throws {Error} if the setting was declared without them */
export function infoOf(name: SettingName): SettingInfo {
  const info = settingInfo.get(settingsSchema.shape[name]);
  if (info === undefined) throw new Error(`the setting ${name} has no texts in src/settings/settings.ts`);
  return info;
}

/** The default as a user would write it; "" = empty; undefined = a secret that is generated. */
export function defaultOf(name: SettingName): string | undefined {
  const schema = settingsSchema.shape[name];
  return schema instanceof z.ZodPrefault ? String(schema.def.defaultValue) : undefined;
}

/** `httpPort` as a flag: `--http-port`. */
export function flagName(name: string): string {
  return `--${words(name).join('-')}`;
}

/** `httpPort` as an environment variable: `ADIT_HTTP_PORT`. */
export function environmentName(name: string): string {
  return `ADIT_${words(name).join('_').toUpperCase()}`;
}

/** `httpPort` as a key of adit.toml: `http_port`. */
export function fileKey(name: string): string {
  return words(name).join('_');
}

function words(name: string): string[] {
  return name.split(/(?=[A-Z])/).map((word) => word.toLowerCase());
}
