import { z } from 'zod';
import { logLevels as logLevelNames, logModules } from '../rules/log-levels.ts';
import { authFailureStatus, basePath, boolean, databaseUrl, email, filePath, host, httpsUrl, integer, logLevels, networks, oneOf, optionalFilePath, port, portRanges, secret, text, webUrl } from './values.ts';

/** What is to be known of a setting besides its kind and default. */
export interface SettingInfo {
  /** What it is for, in the words of `--help` and docs/settings.md. */
  readonly help: string;
  /** What stands for its value in `--help`. */
  readonly value: string;
  /** Never printed; can also be given as the name of a file that holds it. */
  readonly secret?: boolean;
}

const settingInfo = z.registry<SettingInfo>();

/**
 * Every setting of the server: its kind, default and text. Flag, environment variable and the name in adit.toml follow from
 * the property's name, so a new setting is one line here. The three secrets without a default are generated at the first
 * start (src/settings/secrets.ts).
 */
export const settingsSchema = z.object({
  dataDir: filePath.prefault('./data').register(settingInfo, { value: 'DIR', help: 'where the database and the generated secrets are kept' }),
  httpHost: host.prefault('127.0.0.1').register(settingInfo, { value: 'HOST', help: 'address of the HTTP API' }),
  httpPort: port.prefault(8080).register(settingInfo, { value: 'PORT', help: 'port of the HTTP API' }),
  basePath: basePath.prefault('').register(settingInfo, { value: 'PATH', help: 'path that every HTTP route is put below, such as /adit' }),
  publicUrl: webUrl.prefault('').register(settingInfo, { value: 'URL', help: 'where the API is reached from outside, such as https://panel.example.com; no user may have a host of this name; empty = not known' }),
  bridgeHost: host.prefault('0.0.0.0').register(settingInfo, { value: 'HOST', help: 'address that agents connect to' }),
  bridgePort: port.prefault(8024).register(settingInfo, { value: 'PORT', help: 'port that agents connect to' }),
  bridgeTlsPort: port.prefault(8025).register(settingInfo, { value: 'PORT', help: 'port that agents connect to over TLS 1.3' }),
  bridgeTlsCert: optionalFilePath.prefault('').register(settingInfo, { value: 'FILE', help: 'PEM file of the certificate that agents see over TLS; empty = generated at the first start' }),
  bridgeTlsKey: optionalFilePath.prefault('').register(settingInfo, { value: 'FILE', help: 'PEM file of its key' }),
  vhostHost: host.prefault('0.0.0.0').register(settingInfo, { value: 'HOST', help: 'address that visitors of hosts connect to' }),
  vhostHttpPort: port.prefault(8000).register(settingInfo, { value: 'PORT', help: 'port of the HTTP hosts' }),
  vhostHttpsPort: port.prefault(8443).register(settingInfo, { value: 'PORT', help: 'port of the HTTPS hosts' }),
  acme: boolean.prefault(false).register(settingInfo, { value: 'BOOLEAN', help: "whether hosts that ask for it get certificates by ACME; true also says that you agree to the authority's terms" }),
  acmeDirectory: httpsUrl.prefault('https://acme-v02.api.letsencrypt.org/directory').register(settingInfo, { value: 'URL', help: 'directory of the certificate authority' }),
  acmeEmail: email.prefault('').register(settingInfo, { value: 'ADDRESS', help: 'where the certificate authority may write to; empty = not told' }),
  acmeCa: optionalFilePath.prefault('').register(settingInfo, { value: 'FILE', help: "PEM file of the authority behind the directory's own TLS certificate; empty = those that Node knows" }),
  p2pPort: port.prefault(6000).register(settingInfo, { value: 'PORT', help: 'UDP and TCP port, and with the next one a UDP port, by which p2p tunnels find direct paths; open while it is used' }),
  databaseUrl: databaseUrl.prefault('').register(settingInfo, { value: 'URL', secret: true, help: 'postgresql://... ; empty = SQLite in the data directory' }),
  authKey: secret.trim().register(settingInfo, { value: 'KEY', secret: true, help: 'key that API calls are signed with; given empty = no signed calls; not given = generated at the first start' }),
  authCryptKey: secret.register(settingInfo, { value: 'KEY', secret: true, help: '16 characters that /auth/getauthkey/ encrypts the key with; another length turns it off; not given = generated at the first start' }),
  adminUsername: text.prefault('admin').register(settingInfo, { value: 'NAME', help: "the administrator's login name" }),
  adminPassword: secret.min(6, 'must have at least 6 characters').register(settingInfo, { value: 'TEXT', secret: true, help: "the administrator's password; not given = generated at the first start" }),
  allowPorts: portRanges.prefault('').register(settingInfo, { value: 'PORTS', help: 'ports that tunnels may use, such as 9001-9009,10001; empty = all' }),
  allowLocalProxy: boolean.prefault(false).register(settingInfo, { value: 'BOOLEAN', help: "whether tunnels may lead to the server's own machine (local_proxy)" }),
  allowVkeyLogin: boolean.prefault(false).register(settingInfo, { value: 'BOOLEAN', help: "whether an agent's key opens a login as `user` to its client, when no user owns it" }),
  trustedProxies: networks.prefault('').register(settingInfo, { value: 'LIST', help: 'IP addresses and networks of proxies in front of the API and the hosts, whose X-Forwarded-For is believed, and to the hosts their PROXY protocol' }),
  logLevel: logLevels.prefault('info').register(settingInfo, { value: 'LEVELS', help: `${logLevelNames.join(', ')}; or levels of modules before it, such as engine:debug,info; modules: ${logModules.join(', ')}` }),
  logFormat: oneOf(['text', 'json']).prefault('text').register(settingInfo, { value: 'FORMAT', help: 'text or json, one line for each entry, on stderr' }),
  sockets: oneOf(['auto', 'net', 'onread', 'captured']).prefault('auto').register(settingInfo, { value: 'WAY', help: 'how sockets are had: captured and onread are faster and rely on what Node does not document; auto = the fastest that passes a self-test at the start; net always works' }),
  apiAuthFailureStatus: authFailureStatus.prefault('401').register(settingInfo, { value: 'STATUS', help: 'answer to API calls without a valid signature: 401, or the 302 to the login page that older servers gave' }),
  auditDays: integer(1, 36_500, 'days').prefault(365).register(settingInfo, { value: 'DAYS', help: 'how long entries of the audit log are kept' }),
  trafficMinuteDays: integer(1, 36_500, 'days').prefault(2).register(settingInfo, { value: 'DAYS', help: 'how long the traffic of each minute is kept' }),
  trafficHourDays: integer(1, 36_500, 'days').prefault(60).register(settingInfo, { value: 'DAYS', help: 'how long the traffic of each hour is kept' }),
  trafficDayDays: integer(1, 36_500, 'days').prefault(1100).register(settingInfo, { value: 'DAYS', help: 'how long the traffic of each day is kept' }),
  udpIdleSeconds: integer(1, 86_400, 'seconds').prefault(60).register(settingInfo, { value: 'SECONDS', help: 'how long a session of a udp tunnel may be idle before it ends' }),
  halfClosedSeconds: integer(1, 86_400, 'seconds').prefault(300).register(settingInfo, { value: 'SECONDS', help: "how long one direction of a visitor's connection may be over while nothing moves in the other; then it is closed" }),
  dialTimeoutSeconds: integer(1, 60, 'seconds').prefault(10).register(settingInfo, { value: 'SECONDS', help: 'how long a target of a host, or one that the visitor of a proxy names, may take to accept a connection' }),
  vhostHeadSeconds: integer(1, 600, 'seconds').prefault(10).register(settingInfo, { value: 'SECONDS', help: 'how long the head of a request to a host may take to arrive' }),
  vhostIdleSeconds: integer(1, 86_400, 'seconds').prefault(60).register(settingInfo, { value: 'SECONDS', help: 'how long a visitor of a host may keep an HTTP/1.1 connection on which he asks for nothing' }),
  vhostResponseSeconds: integer(1, 86_400, 'seconds').prefault(60).register(settingInfo, { value: 'SECONDS', help: "how long a host's target may take to begin its response" }),
  vhostMaxHeadBytes: integer(1024, 1_048_576, 'bytes').prefault(32_768).register(settingInfo, { value: 'BYTES', help: 'longest head of an HTTP/1.1 request to a host' }),
  vhostMaxHeaders: integer(8, 1000).prefault(128).register(settingInfo, { value: 'NUMBER', help: 'most header fields of a request to a host' }),
  drainSeconds: integer(0, 3600, 'seconds').prefault(30).register(settingInfo, { value: 'SECONDS', help: 'how long open connections may go on after SIGTERM' }),
});

/** The settings of a running server. */
export type Settings = z.output<typeof settingsSchema>;

/** The name of a setting, as a property of `Settings`. */
export type SettingName = keyof Settings;

/** All of them, in the order of the help. */
export const settingNames: readonly SettingName[] = settingsSchema.keyof().options;

/** What is known of a setting. @throws {Error} for a setting that was declared without its texts */
export function infoOf(name: SettingName): SettingInfo {
  const info = settingInfo.get(settingsSchema.shape[name]);
  if (info === undefined) throw new Error(`the setting ${name} has no texts in src/settings/settings.ts`);
  return info;
}

/** The default as people write it, "" for an empty one; undefined for a secret that is generated. */
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
