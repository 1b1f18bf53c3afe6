import path from 'node:path';
import { fileKey, infoOf, settingsSchema, type SettingName } from '../../settings/settings.ts';
import { type ConfProblem, type NpsConf, parseConf } from './conf.ts';

/** Where a value comes from, besides its key. */
interface Around {
  readonly conf: NpsConf;
  /** The directory that relative paths start from. */
  readonly directory: string;
}

/** What becomes of a key of nps.conf. */
type Row =
  /** It becomes a setting. `value`: the value in the form of that setting; undefined = the default is kept, as `otherwise` explains. */
  | { readonly to: SettingName; readonly value?: (text: string, around: Around) => string | undefined; readonly otherwise?: Reason }
  | Reason;

/** Why a key becomes no setting. */
type Reason =
  /** It needs no setting. */
  | { readonly unneeded: string }
  /** It has no equivalent. */
  | { readonly instead: string };

const logLevels = ['fatal', 'fatal', 'fatal', 'error', 'warn', 'info', 'info', 'debug'];
const weak: ReadonlySet<string> = new Set(['123', '213', 'CHANGE_ME', 'CHANGE_ME_16CHAR', '1234567812345678']);
const limits = 'limits always apply; `adit import nps` reads this key, and imports limits that did not apply as unlimited';
const notWeak = {
  value: (text: string) => weak.has(text) ? undefined : text,
  otherwise: { instead: 'not carried over: it is a publicly known value of a template; Adit generates a random one at the first start' },
} as const;
const ofHttps = {
  value: (file: string, { conf, directory }: Around) => conf.isOn('web_open_ssl') ? path.resolve(directory, file) : undefined,
  otherwise: { unneeded: 'web_open_ssl is not on, so it had no effect' },
} as const;

/** Every key of nps.conf that the lineages know. */
const rows: ReadonlyMap<string, Row> = new Map(Object.entries<Row>({
  bridge_ip: { to: 'bridgeHost' },
  bridge_port: { to: 'bridgePort' },
  bridge_type: { unneeded: 'agents connect over TCP, or over TLS to bridge_tls_port; there is no KCP' },
  tls_enable: { unneeded: 'agents can always use TLS, on bridge_tls_port' },
  tls_bridge_port: { to: 'bridgeTlsPort' },
  http_proxy_ip: { to: 'vhostHost' },
  http_proxy_port: { to: 'vhostHttpPort' },
  https_proxy_port: { to: 'vhostHttpsPort' },
  https_just_proxy: { unneeded: 'TLS of a host without a certificate is always passed through' },
  https_default_cert_file: { instead: 'give each host its certificate, or set acme = true' },
  https_default_key_file: { instead: 'give each host its certificate, or set acme = true' },
  web_ip: { to: 'httpHost' },
  web_port: { to: 'httpPort' },
  web_host: {
    to: 'publicUrl',
    value: (host, { conf }) => host === 'a.o.com' ? undefined : `${conf.isOn('web_open_ssl') ? 'https' : 'http'}://${host}:${conf.text('web_port') || '8080'}`,
    otherwise: { unneeded: 'it has the value of the template' },
  },
  web_base_url: { to: 'basePath', value: (base) => base.replace(/\/+$/, '') },
  web_open_ssl: {
    to: 'httpTls',
    value: (_text, { conf }) => conf.isOn('web_open_ssl') && conf.text('web_cert_file') === '' ? 'self-signed' : undefined,
    otherwise: { unneeded: 'the API is served over HTTPS if there are http_tls_cert and http_tls_key' },
  },
  web_cert_file: { to: 'httpTlsCert', ...ofHttps },
  web_key_file: { to: 'httpTlsKey', ...ofHttps },
  web_username: { to: 'adminUsername' },
  web_password: { to: 'adminPassword', ...notWeak },
  auth_key: { to: 'authKey', ...notWeak },
  auth_crypt_key: { to: 'authCryptKey', ...notWeak },
  public_vkey: { instead: 'create a client with config_conn_allow for each agent, and give the agent its key' },
  allow_ports: { to: 'allowPorts' },
  allow_user_login: { unneeded: 'users and web logins of clients can always log in; disable the account to prevent it' },
  allow_user_register: { instead: 'an administrator creates accounts' },
  allow_user_change_username: { instead: 'an administrator changes user names' },
  allow_flow_limit: { unneeded: limits },
  allow_rate_limit: { unneeded: limits },
  allow_tunnel_num_limit: { unneeded: limits },
  allow_connection_num_limit: { unneeded: limits },
  allow_local_proxy: { to: 'allowLocalProxy', value: (_text, { conf }) => String(conf.isOn('allow_local_proxy')) },
  allow_multi_ip: { unneeded: 'server_ip always applies' },
  flow_store_interval: { unneeded: 'counters are always stored, every five seconds' },
  p2p_ip: { unneeded: 'agents and visitors use the address at which they reach the server' },
  p2p_port: { to: 'p2pPort' },
  ip_limit: { instead: 'give clients an allowlist with a password (ipwhite, ipwhitepass)' },
  disconnect_timeout: { unneeded: 'a lost connection is noticed after 12 seconds' },
  http_add_origin_header: { unneeded: 'X-Forwarded-For and X-Real-IP are always set' },
  http_cache: { instead: 'put a cache in front of the hosts' },
  http_cache_length: { instead: 'put a cache in front of the hosts' },
  show_http_proxy_port: { unneeded: 'GraphQL returns the URLs of hosts (publicUrls)' },
  system_info_display: { instead: '/metrics has figures of the server' },
  open_captcha: { instead: 'failed logins are throttled (docs/limits.md)' },
  log_level: { to: 'logLevel', value: (level) => logLevels[Number(level)], otherwise: { instead: 'not carried over: it must be 0 to 7' } },
  log_path: { instead: 'the log goes to stderr: let the service manager store it' },
  pprof_ip: { instead: '/metrics has figures of the server' },
  pprof_port: { instead: '/metrics has figures of the server' },
  appname: { unneeded: 'it had no effect' },
  runmode: { unneeded: 'responses are always compact' },
}));

/** A settings file made from an nps.conf. */
export interface SettingsFile {
  readonly text: string;
  /** Lines of nps.conf that can't be read. */
  readonly problems: readonly ConfProblem[];
}

/**
 * Makes an adit.toml with every setting that has an equivalent; comments say what becomes of the other keys.
 * @param directory from which relative paths in nps.conf start
 */
export function settingsFileOf(npsConf: string, directory: string): SettingsFile {
  const problems: ConfProblem[] = [];
  const conf = parseConf(npsConf, problems);
  const [settings, unneeded, instead]: [string[], string[], string[]] = [[], [], []];
  for (const key of conf.keys()) {
    const text = conf.text(key);
    const row = rows.get(key) ?? { instead: 'unknown to NPS as far as known; not carried over' };
    const outcome = 'to' in row ? settingOf(row, key, text, { conf, directory }) : row;
    if ('line' in outcome) settings.push(outcome.line);
    else if ('unneeded' in outcome) unneeded.push(`${key}: ${outcome.unneeded}`);
    else instead.push(`${key}: ${outcome.instead}`);
  }
  const comments = (title: string, lines: readonly string[]): string =>
    lines.length === 0 ? '' : `\n# ${title}\n${lines.map((line) => `#   ${line.replace(/\p{Cc}/gu, '?')}\n`).join('')}`;
  const text = [
    '# Made from an nps.conf by `adit import nps-conf`. All settings are described in docs/settings.md.\n\n',
    settings.map((line) => `${line}\n`).join(''),
    '\n# Callers that rely on the redirect of NPS after a failed signature need this (docs/migrating.md):\n# api_auth_failure_status = 302\n',
    comments('These keys have no equivalent:', instead),
    comments('These keys need no setting:', unneeded),
  ].join('');
  return { text, problems };
}

/** The line of a setting, or why there is none. */
function settingOf(row: Extract<Row, { readonly to: SettingName }>, key: string, text: string, around: Around): Reason | { readonly line: string } {
  // A port 0 would be any free one here.
  if (text === '' || (infoOf(row.to).value === 'PORT' && /^0+$/.test(text))) return { unneeded: emptyText(key, row.to) };
  const value = row.value === undefined ? text : row.value(text, around);
  if (value === undefined) return row.otherwise ?? { unneeded: 'the default applies' };
  const fault = faultOf(row.to, value);
  return fault === undefined ? { line: `${fileKey(row.to)} = ${tomlOf(row.to, value)}  # ${key}` } : { instead: `not carried over: ${fault}` };
}

function emptyText(key: string, to: SettingName): string {
  if (key === 'auth_key') return 'it was empty; Adit generates one at the first start. Set auth_key = "" to switch the signed API off';
  return ['http_proxy_port', 'https_proxy_port', 'web_port'].includes(key)
    ? `it was empty or 0, which switched the port off; Adit opens ${fileKey(to)}: close it in the firewall`
    : `it was empty${infoOf(to).value === 'PORT' ? ' or 0' : ''}; the default applies`;
}

/** Why a setting can't have a value; undefined = it can. */
function faultOf(name: SettingName, value: string): string | undefined {
  const checked = settingsSchema.shape[name].safeParse(value);
  return checked.success ? undefined : checked.error.issues.map(({ message }) => message).join(', ');
}

function tomlOf(name: SettingName, value: string): string {
  const bare = ['PORT', 'BOOLEAN'].includes(infoOf(name).value);
  return bare ? value.replace(/^0+(?=\d)/, '') : JSON.stringify(value).replaceAll('\x7F', '\\u007F');
}
