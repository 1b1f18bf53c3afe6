import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { certificatePair, CertificateFault } from '../../rules/certificate.ts';
import type { HostPort } from '../../rules/host-port.ts';
import { dialTargets } from '../../rules/targets.ts';
import type { DeclaredEntry } from '../../wire/declaration.ts';
import { MAX_ENTRY_BYTES } from '../../wire/declared.ts';
import { messageOf } from '../../wire/system-error.ts';
import type { CheckedEntry } from '../health/health-checks.ts';
import { hostOf, type HostTable } from './host-table.ts';
import { type AgentConfig, parseAgentConfig, type VisitorTable } from './parse-config.ts';
import { type ConfigProblem, KeyLines, problemLine } from './problem.ts';
import { tunnelOf } from './tunnel-table.ts';

/** The most bytes of a file that the configuration names (contract D32). */
const MAX_BYTES = 64 * 1024;

/** How an agent connects to its servers; undefined = not given. */
export interface GivenSession {
  readonly servers: readonly HostPort[] | undefined;
  readonly tls: { readonly fingerprint: string } | undefined;
  readonly vkey: string | undefined;
  readonly allowFiles: readonly string[];
}

/** A session of an agent with everything that it needs. */
interface AgentSessionConfig extends GivenSession {
  readonly servers: readonly HostPort[];
  readonly vkey: string;
}

/** What an agent in configuration-file mode runs. */
export interface AgentPlan {
  /** The servers of visitors and agent. */
  readonly servers: readonly HostPort[];
  readonly tls: GivenSession['tls'];
  /** undefined = there are visitors only. */
  readonly session: AgentSessionConfig | undefined;
  readonly entries: readonly DeclaredEntry[];
  /** The entries with health checks. */
  readonly checks: readonly CheckedEntry[];
  readonly visitors: ReadonlyMap<string, VisitorTable>;
}

/** A plan, or all problems of the file; and every file that was read. */
export type ReadConfig = { readonly files: readonly string[] } & ({ readonly plan: AgentPlan } | { readonly problems: readonly string[] });

/**
 * Reads a configuration file and the files that it names: keys, certificates.
 * @param given flags and environment: they take precedence over the file
 */
export async function readAgentConfig(file: string, given: GivenSession): Promise<ReadConfig> {
  const reader = new Reader(file, given);
  return reader.read();
}

/** One reading of a file. */
class Reader {
  readonly #file: string;
  readonly #given: GivenSession;
  readonly #files: string[];
  readonly #problems: ConfigProblem[] = [];
  #text = '';

  constructor(file: string, given: GivenSession) {
    this.#file = file;
    this.#given = given;
    this.#files = [file];
  }

  async read(): Promise<ReadConfig> {
    try {
      this.#text = await readFile(this.#file, 'utf8');
    } catch (error) {
      return { files: this.#files, problems: [`${this.#file}: ${messageOf(error)}`] };
    }
    const parsed = parseAgentConfig(this.#text);
    const plan = 'config' in parsed ? await this.#plan(parsed.config) : undefined;
    const problems = ('problems' in parsed ? parsed.problems : this.#problems).map((problem) => problemLine(this.#file, problem));
    return plan && problems.length === 0 ? { files: this.#files, plan } : { files: this.#files, problems };
  }

  async #plan(config: AgentConfig): Promise<AgentPlan | undefined> {
    const given = this.#given;
    const servers = given.servers ?? config.server;
    const tls = given.tls ?? (config.tls || config.tls_fingerprint !== undefined ? { fingerprint: config.tls_fingerprint ?? '' } : undefined);
    const vkey = given.vkey ?? config.vkey ?? (config.vkey_file === undefined ? undefined : (await this.#textOf(['vkey_file'], config.vkey_file)).trim());
    const allowFiles = [...given.allowFiles, ...config.allow_files.map((directory) => this.#resolve(directory))];
    const entries: DeclaredEntry[] = [];
    const checks: CheckedEntry[] = [];
    const check = (
      kind: string,
      name: string,
      table: object & { readonly targets?: readonly string[]; readonly health?: CheckedEntry['health'] | undefined },
    ): void => {
      // In the server's spelling, because health reports name targets by it.
      if (table.health && table.targets) checks.push({ name: `${kind} ${name}`, targets: dialTargets(table.targets.join('\n')), health: table.health });
    };
    for (const [name, table] of Object.entries(config.tunnels)) {
      entries.push({ kind: 'tunnel', name, tunnel: withPath(tunnelOf(table), (local) => this.#resolve(local)) });
      check('tunnel', name, table);
    }
    for (const [name, table] of Object.entries(config.hosts)) {
      entries.push(await this.#host(name, table));
      check('host', name, table);
    }
    const visitors = new Map(Object.entries(config.visitors));
    if (servers === undefined) this.#refuse(['server'], 'is missing: give it here or as --server');
    if (vkey === '') this.#refuse(['vkey_file'], 'the file is empty');
    if (vkey === undefined && (entries.length > 0 || visitors.size === 0)) this.#refuse(['vkey'], 'is missing: give vkey or vkey_file, or set ADIT_VKEY');
    if (servers === undefined) return undefined;
    return { servers, tls, session: vkey === undefined ? undefined : { servers, tls, vkey, allowFiles }, entries, checks, visitors };
  }

  async #host(name: string, table: HostTable): Promise<DeclaredEntry> {
    const host = { ...hostOf(table) };
    const at = ['hosts', name];
    if (table.certificate !== undefined && table.private_key !== undefined) {
      host.certificate = await this.#textOf([...at, 'certificate'], table.certificate);
      host.privateKey = await this.#textOf([...at, 'private_key'], table.private_key);
      if (host.certificate !== '' && host.privateKey !== '') this.#checkPair(at, host.certificate, host.privateKey);
    }
    if (Buffer.byteLength(JSON.stringify(host)) > MAX_ENTRY_BYTES) this.#refuse(at, 'is too long with its certificate: the server takes no such entry');
    return { kind: 'host', name, host };
  }

  #checkPair(at: readonly string[], certificate: string, privateKey: string): void {
    try {
      certificatePair(certificate, privateKey);
    } catch (error) {
      if (!(error instanceof CertificateFault)) throw error;
      this.#refuse([...at, 'certificate'], `cannot be used: ${error.message}`);
    }
  }

  /** "" = the file can't be read, which is already reported. */
  async #textOf(at: readonly string[], name: string): Promise<string> {
    const file = this.#resolve(name);
    this.#files.push(file);
    try {
      const { size } = await stat(file);
      if (size <= MAX_BYTES) return await readFile(file, 'utf8');
      this.#refuse(at, `${file} is longer than ${MAX_BYTES} bytes`);
    } catch (error) {
      this.#refuse(at, messageOf(error));
    }
    return '';
  }

  #resolve(name: string): string {
    return path.resolve(path.dirname(this.#file), name);
  }

  #refuse(at: readonly string[], text: string): void {
    this.#problems.push({ line: new KeyLines(this.#text).of(at), field: at.join('.'), text });
  }
}

function withPath<T extends { readonly localPath: string }>(tunnel: T, resolve: (name: string) => string): T {
  return tunnel.localPath === '' ? tunnel : { ...tunnel, localPath: resolve(tunnel.localPath) };
}
