import path from 'node:path';
import { stringify } from 'smol-toml';
import { parseAgentConfig } from '../../agent/config/parse-config.ts';
import { type NpsConf, readConfText } from '../nps/conf.ts';
import { type Section, sectionsOf } from './sections.ts';
import { bracketed } from '../../rules/host-port.ts';

/** A configuration file for `adit agent`, made from an npc.conf. */
export interface AgentFile {
  readonly text: string;
  /** What is not carried over, and what to do instead. */
  readonly notes: readonly string[];
  /** Why the file can't be used as it is. */
  readonly problems: readonly string[];
}

type Table = Record<string, unknown>;

/** Keys of [common] that belong to the client on the server. */
const ofClient: ReadonlyMap<string, string> = new Map(Object.entries({
  remark: 'remark',
  max_conn: 'max_conn',
  rate_limit: 'rate_limit',
  flow_limit: 'flow_limit',
  basic_username: 'u',
  basic_password: 'p',
  web_username: 'web_username',
  web_password: 'web_password',
  crypt: 'crypt',
  compress: 'compress',
}));
const unneeded: ReadonlySet<string> = new Set([
  'auto_reconnection',
  'disconnect_timeout',
  'conn_type',
  'tp',
  'server_addr',
  'server',
  'vkey',
  'tls_enable',
  'tls_fingerprint',
  'tls_insecure_skip_verify',
]);

/** The keys of each kind of section; comments name all others. `local_proxy` has a comment of its own. */
const keysOf = {
  host: new Set(['host', 'target_addr', 'location', 'scheme', 'host_change', 'local_proxy']),
  tunnel: new Set([
    'mode',
    'server_port',
    'server_ip',
    'target_addr',
    'target_port',
    'target_ip',
    'password',
    'local_path',
    'strip_pre',
    'multi_account',
    'local_proxy',
  ]),
  visitor: new Set(['local_port', 'local_ip', 'password', 'target_addr']),
  health: new Set([
    'health_check_timeout',
    'health_check_max_failed',
    'health_check_interval',
    'health_check_type',
    'health_http_url',
    'health_check_target',
  ]),
};

/** Maximum number of ports in a range: each becomes a tunnel. */
const mostPorts = 1000;

/** Makes an agent's configuration file from an npc.conf. @param directory of the npc.conf, from which its paths start */
export function agentFileOf(text: string, directory: string): AgentFile {
  return new AgentFileMaker(directory).make(text);
}

class AgentFileMaker {
  readonly #directory: string;
  readonly #notes: string[] = [];
  readonly #problems: string[] = [];
  readonly #tunnels: Record<string, Table> = {};
  readonly #hosts: Record<string, Table> = {};
  readonly #visitors: Record<string, Table> = {};
  readonly #allowFiles = new Set<string>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  make(text: string): AgentFile {
    const faults: Array<{ readonly line: number; readonly text: string }> = [];
    const sections = sectionsOf(text, faults);
    this.#problems.push(...faults.map(({ line, text: fault }) => `line ${line}: ${fault}`));
    const common = sections.find(({ name }) => name.toLowerCase() === 'common');
    const session = common === undefined ? {} : this.#session(common.conf);
    if (common === undefined) this.#problems.push('has no [common] section');
    const others = sections.filter((section) => section !== common);
    for (const section of others) this.#entry(section);
    for (const { name, conf } of others) if (isHealth(name)) this.#health(name, conf);
    const file = stringify({
      ...session,
      ...(this.#allowFiles.size > 0 && { allow_files: [...this.#allowFiles] }),
      ...(notEmpty(this.#tunnels) && { tunnels: this.#tunnels }),
      ...(notEmpty(this.#hosts) && { hosts: this.#hosts }),
      ...(notEmpty(this.#visitors) && { visitors: this.#visitors }),
    });
    const comments = this.#notes.map((note) => `# ${note.replace(/\p{Cc}/gu, '?')}\n`).join('');
    const made = `# Made from an npc.conf by \`adit import npc-conf\` (docs/agent.md). The client needs config_conn_allow.\n${comments}\n${file}\n`;
    const checked = parseAgentConfig(made);
    if ('problems' in checked) this.#problems.push(...checked.problems.map(({ field, text: problem }) => `${field}: ${problem}`));
    return { text: made, notes: this.#notes, problems: this.#problems };
  }

  #session(conf: NpsConf): Table {
    const type = (conf.text('conn_type') || conf.text('tp') || 'tcp').toLowerCase();
    const tls = type === 'tls' || conf.isOn('tls_enable') || conf.text('tls_fingerprint') !== '';
    if (type !== 'tcp' && type !== 'tls') this.#notes.push(`conn_type ${type}: there is only TCP, and TLS; connect to the bridge port of the server`);
    for (const key of conf.keys()) {
      const parameter = ofClient.get(key);
      if (parameter !== undefined) this.#notes.push(`${key}: set ${parameter} of the client on the server instead`);
      else if (key === 'proxy_url') this.#notes.push('proxy_url: the agent connects directly');
      else if (key === 'tls_ca_file' || key === 'tls_server_name') {
        this.#notes.push(`${key}: set tls_fingerprint to the fingerprint that the server prints at its start`);
      } else if (!unneeded.has(key)) this.#notes.push(`${key}: has no equivalent`);
    }
    const vkey = conf.text('vkey');
    return {
      server: conf.text('server_addr') || conf.text('server'),
      ...(vkey !== '' && { vkey }),
      ...(tls && { tls: true }),
      ...(conf.text('tls_fingerprint') !== '' && { tls_fingerprint: conf.text('tls_fingerprint') }),
    };
  }

  #entry({ name, conf }: Section): void {
    if (isHealth(name)) return;
    if (conf.text('host') !== '') this.#addHosts(name, conf);
    else if (conf.text('mode') !== '') this.#addTunnels(name, conf);
    else if (/^(secret|p2p)/i.test(name)) this.#visitors[this.#free(this.#visitors, name)] = this.#visitor(name, conf);
    else this.#notes.push(`[${name}]: is no tunnel, host, visitor or health check, and is not carried over`);
  }

  /** Names the keys of a section that have no equivalent. */
  #noteKeys(name: string, kind: keyof typeof keysOf, conf: NpsConf): void {
    for (const key of conf.keys()) {
      if (!keysOf[kind].has(key) && !(kind === 'host' && key.startsWith('header_'))) this.#notes.push(`[${name}]: ${key}: has no equivalent`);
    }
    if (conf.isOn('local_proxy')) this.#notes.push(`[${name}]: local_proxy: the agent always dials the targets of its file`);
  }

  /** One host for each name: NPS takes several, separated by commas. */
  #addHosts(name: string, conf: NpsConf): void {
    this.#noteKeys(name, 'host', conf);
    const hosts = conf.text('host').split(',').map((host) => host.trim()).filter((host) => host !== '');
    for (const host of hosts) this.#hosts[this.#free(this.#hosts, name)] = this.#host(name, host, conf);
  }

  #host(name: string, host: string, conf: NpsConf): Table {
    const scheme = conf.text('scheme').toLowerCase();
    const headers = conf.keys().filter((key) => key.startsWith('header_')).map((key) => `${key.slice('header_'.length)}: ${conf.text(key)}`);
    return {
      host,
      targets: targetsOf(conf.text('target_addr')),
      remark: name,
      ...(conf.text('location') !== '' && { location: conf.text('location') }),
      ...(scheme !== '' && { scheme }),
      ...(conf.text('host_change') !== '' && { host_change: conf.text('host_change') }),
      ...(headers.length > 0 && { headers }),
    };
  }

  #addTunnels(name: string, conf: NpsConf): void {
    this.#noteKeys(name, 'tunnel', conf);
    const type = conf.text('mode');
    const ports = this.#ports(name, 'server_port', conf);
    const targetPorts = this.#ports(name, 'target_port', conf);
    const spread = ports.length > 1;
    if (spread && targetPorts.length > 0 && targetPorts.length !== ports.length) {
      this.#problems.push(`[${name}]: server_port and target_port have different numbers of ports`);
    }
    for (const [index, port] of (ports.length === 0 ? [0] : ports).entries()) {
      const target = targetPorts[index] === undefined ? conf.text('target_addr') : `${conf.text('target_ip') || '127.0.0.1'}:${targetPorts[index]}`;
      const own = this.#free(this.#tunnels, spread ? `${name}-${port}` : name);
      this.#tunnels[own] = this.#tunnel(name, type, port, target, conf);
    }
  }

  /** Ports and ranges: `9001-9003,9010`. */
  #ports(name: string, key: string, conf: NpsConf): number[] {
    return conf.text(key).split(',').map((part) => part.trim()).filter((part) => part !== '').flatMap((part) => {
      const [from = 0, to = from] = /^\d+(-\d+)?$/.test(part) ? part.split('-').map(Number) : [NaN];
      if (from <= to && to - from < mostPorts) return Array.from({ length: to - from + 1 }, (_, index) => from + index);
      this.#problems.push(`[${name}]: ${key}: ${JSON.stringify(part.slice(0, 40))} is no port, nor a range of at most ${mostPorts} ports`);
      return [];
    });
  }

  #tunnel(name: string, type: string, port: number, target: string, conf: NpsConf): Table {
    const listens = ['tcp', 'udp', 'httpProxy', 'socks5', 'file'].includes(type);
    const dials = ['tcp', 'udp', 'secret', 'p2p'].includes(type);
    const table: Table = {
      type,
      ...(listens && { port }),
      ...(listens && conf.text('server_ip') !== '' && { server_ip: conf.text('server_ip') }),
      ...(dials && { targets: targetsOf(target) }),
      ...(!listens && { password: conf.text('password') }),
      remark: name,
    };
    if (type === 'file') {
      if (conf.text('local_path') === '') this.#problems.push(`[${name}]: local_path: is missing`);
      const served = path.resolve(this.#directory, conf.text('local_path'));
      this.#allowFiles.add(served);
      Object.assign(table, { local_path: served, ...(conf.text('strip_pre') !== '' && { strip_prefix: conf.text('strip_pre') }) });
    }
    if (type === 'httpProxy' || type === 'socks5') Object.assign(table, this.#accounts(name, conf.text('multi_account')));
    return table;
  }

  /** The accounts of a multi_account.conf: `user=password` lines. */
  #accounts(name: string, file: string): Table {
    if (file === '') return {};
    try {
      const accounts = new Map<string, string>();
      for (const [index, raw] of readConfText(path.resolve(this.#directory, file)).split(/\r?\n/).entries()) {
        const line = raw.trim();
        if (line === '' || line.startsWith('#')) continue;
        const equals = line.indexOf('=');
        const user = line.slice(0, Math.max(0, equals)).trim();
        if (user === '') this.#problems.push(`${file}: line ${index + 1}: is neither user=password nor a comment`);
        else if (accounts.has(user)) this.#problems.push(`${file}: line ${index + 1}: this user occurs twice`);
        else accounts.set(user, line.slice(equals + 1).trim());
      }
      return { accounts: Object.fromEntries(accounts) };
    } catch (error) {
      this.#problems.push(`[${name}]: multi_account: ${error instanceof Error ? error.message : String(error)}`);
      return {};
    }
  }

  #visitor(name: string, conf: NpsConf): Table {
    this.#noteKeys(name, 'visitor', conf);
    const type = /^p2p/i.test(name) ? 'p2p' : 'secret';
    if (conf.text('target_addr') !== '') this.#notes.push(`[${name}]: target_addr: the tunnel on the server names the targets`);
    return { type, password: conf.text('password'), listen: `${bracketed(conf.text('local_ip') || '127.0.0.1')}:${conf.text('local_port')}` };
  }

  /** A health check names targets; here it belongs to the entries that have them. */
  #health(name: string, conf: NpsConf): void {
    this.#noteKeys(name, 'health', conf);
    const checked = new Set(targetsOf(conf.text('health_check_target')));
    const type = conf.text('health_check_type').toLowerCase() || 'tcp';
    const http = type === 'http';
    const number = (key: string, fallback: number): number => Number(conf.text(key)) === 0 ? fallback : Number(conf.text(key));
    const health = {
      type,
      interval: number('health_check_interval', 10),
      timeout: number('health_check_timeout', 3),
      max_failed: number('health_check_max_failed', 3),
      ...(http && conf.text('health_http_url') !== '' && { path: conf.text('health_http_url') }),
    };
    const entries = [...Object.values(this.#tunnels).filter(({ type }) => type !== 'udp'), ...Object.values(this.#hosts)];
    const meant = entries.filter(({ targets }) => Array.isArray(targets) && targets.some((target) => checked.has(String(target))));
    for (const entry of meant) entry['health'] = health;
    if (meant.length === 0) this.#notes.push(`[${name}]: none of its targets is a target of a tunnel or host of this file`);
  }

  /** A name that the agent's file allows, and that no other entry has. */
  #free(taken: Readonly<Record<string, Table>>, name: string): string {
    const clean = Array.from(name, (letter) => /[\p{L}\p{N} ._-]/u.test(letter) ? letter : '-').join('').slice(0, 56).replace(/^[ .-]+/, '') || 'entry';
    let free = clean;
    for (let number = 2; Object.hasOwn(taken, free) || free === '__proto__'; number++) free = `${clean}-${number}`;
    return free;
  }
}

function isHealth(name: string): boolean {
  return name.toLowerCase().startsWith('health');
}

function notEmpty(tables: object): boolean {
  return Object.keys(tables).length > 0;
}

function targetsOf(text: string): string[] {
  return text.split(/[,\n]/).map((target) => target.trim().replaceAll('：', ':')).filter((target) => target !== '');
}
