import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { formatServerList } from '../rules/server-list.ts';
import type { DeclaredEntry } from '../wire/declaration.ts';
import type { SocketBackend } from '../wire/socket.ts';
import { Agent } from './agent.ts';
import type { VisitorTable } from './config/parse-config.ts';
import { type AgentPlan, type GivenSession, readAgentConfig } from './config/read-config.ts';
import { WatchedFiles } from './config/watch-files.ts';
import { ConfiguredVisitor } from './configured-visitor.ts';
import { Declarer, type EntryState, nameOf } from './declarer.ts';
import { HealthChecks } from './health/health-checks.ts';
import { logState } from './state-change.ts';

/** How an agent in configuration-file mode is started. */
export interface ConfiguredAgentOptions {
  /** The configuration file. */
  readonly file: string;
  /** Flags and environment: they take precedence over the file. */
  readonly given: GivenSession;
  readonly log: Logger;
  readonly version: string;
  readonly sockets: SocketBackend;
}

/** An agent that runs a configuration file and applies its changes; what did not change keeps running. */
export class ConfiguredAgent {
  readonly #options: ConfiguredAgentOptions;
  readonly #watched = new WatchedFiles(() => this.#look());
  readonly #visitors = new Map<
    string,
    { readonly table: VisitorTable; readonly plan: Pick<AgentPlan, 'servers' | 'tls'>; readonly running: ConfiguredVisitor }
  >();
  readonly #health: HealthChecks;
  readonly #stopped = new AbortController();
  #plan: AgentPlan | undefined;
  #agent: { readonly agent: Agent; readonly declarer: Declarer } | undefined;
  #reading: Promise<void> = Promise.resolve();
  #problems: readonly string[] = [];

  constructor(options: ConfiguredAgentOptions) {
    this.#options = options;
    this.#health = new HealthChecks({ log: options.log });
  }

  /** The running plan; undefined = none yet. */
  get plan(): AgentPlan | undefined {
    return this.#plan;
  }

  /** The problems of the current file; if there are any, the last valid plan keeps running. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /** The agent with what it has declared; undefined = there are visitors only. */
  get agent(): { readonly agent: Agent; readonly declarer: Declarer } | undefined {
    return this.#agent;
  }

  /** The visitors by their names in the file. */
  get visitors(): ReadonlyMap<string, { readonly table: VisitorTable; readonly running: ConfiguredVisitor }> {
    return this.#visitors;
  }

  /** Starts, and watches the file. @returns the file's problems; [] = none, and the agent runs */
  async start(): Promise<readonly string[]> {
    await this.#read();
    if (this.#plan === undefined) this.#watched.set([]);
    return this.#plan ? [] : this.#problems;
  }

  /** Resolves some time after `stop`. Never rejects. */
  run(): Promise<void> {
    return new Promise((resolve) => this.#stopped.signal.addEventListener('abort', () => resolve()));
  }

  /** Stops gracefully. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#watched.set([]);
    await this.#reading;
    this.#health.stop();
    await Promise.all([this.#agent?.agent.stop(), ...Array.from(this.#visitors.values(), ({ running }) => running.stop())]);
  }

  #look(): void {
    this.#reading = this.#reading.then(() => this.#read());
  }

  async #read(): Promise<void> {
    const { file, given, log } = this.#options;
    const read = await readAgentConfig(file, given);
    if (this.#stopped.signal.aborted) return;
    this.#watched.set(read.files);
    if ('problems' in read) {
      const again = isDeepStrictEqual(read.problems, this.#problems);
      this.#problems = read.problems;
      if (this.#plan !== undefined && !again) {
        logState(
          log,
          'warn',
          { event: 'config', file, problems: read.problems },
          `the configuration file is invalid; the last valid version stays active: ${read.problems.join('; ')}`,
        );
      }
      return;
    }
    const changed = !isDeepStrictEqual(read.plan, this.#plan) || this.#problems.length > 0;
    this.#problems = [];
    if (!changed) return;
    const { entries, visitors } = read.plan;
    logState(log, 'info', { event: 'config', file, problems: [] }, `${file}: ${entries.length} tunnels and hosts, ${visitors.size} visitors`);
    this.#apply(read.plan);
  }

  #apply(plan: AgentPlan): void {
    const before = this.#plan?.session;
    this.#plan = plan;
    const { session } = plan;
    const same = session && before && isDeepStrictEqual({ ...session, allowFiles: [] }, { ...before, allowFiles: [] });
    if (!same) this.#replaceAgent(plan, before);
    else this.#agent?.agent.allowFiles(session.allowFiles);
    this.#health.set(plan.checks);
    for (const entry of plan.entries) {
      // If only the checks change, the entry isn't declared again.
      const state = this.#agent?.declarer.stateOf(entry);
      if (state) this.#checkedBy(entry, state);
    }
    this.#agent?.declarer.set(plan.entries);
    this.#setVisitors(plan);
  }

  #replaceAgent({ session }: AgentPlan, before: AgentPlan['session']): void {
    if (before) this.#tellOfEnd(before, session);
    void this.#agent?.agent.stop();
    this.#agent = undefined;
    this.#health.lost();
    if (!session) return;
    const { log, version, sockets } = this.#options;
    const declarer = new Declarer({
      log,
      onEstablished: (entry, state) => {
        if (declarer === this.#agent?.declarer) this.#checkedBy(entry, state);
      },
      onLost: () => {
        if (declarer === this.#agent?.declarer) this.#health.lost();
      },
    });
    const agent = new Agent({ ...session, log, version, sockets, declarer });
    this.#agent = { agent, declarer };
    void agent.run();
  }

  #tellOfEnd(before: NonNullable<AgentPlan['session']>, session: AgentPlan['session']): void {
    const { log, file } = this.#options;
    const old = `the session with ${formatServerList(before.servers)} ends`;
    if (!session) {
      logState(log, 'info', { event: 'stopped' }, `${file} has no key and no tunnels or hosts any more: ${old}`);
      return;
    }
    const names = { servers: 'server', vkey: 'vkey', tls: 'tls' } as const;
    const reason = (['servers', 'vkey', 'tls'] as const).filter((key) => !isDeepStrictEqual(session[key], before[key])).map((key) => names[key]).join(', ');
    logState(log, 'info', { event: 'restarted', reason }, `${file} has another ${reason}: ${old}, and a new one begins`);
  }

  /** Health reports to the server name an entry by the id of its record. */
  #checkedBy(entry: DeclaredEntry, { id }: EntryState): void {
    if (id !== 0) this.#health.established(nameOf(entry), { of: entry.kind, id }, (message) => this.#agent?.agent.send(message));
  }

  #setVisitors({ servers, tls, visitors }: AgentPlan): void {
    const plan = { servers, tls };
    for (const [name, { table, plan: before, running }] of this.#visitors) {
      if (isDeepStrictEqual([table, before], [visitors.get(name), plan])) continue;
      this.#visitors.delete(name);
      running.tellOfEnd(visitors.has(name));
      void running.stop();
    }
    const { log, version, sockets } = this.#options;
    for (const [name, table] of visitors) {
      if (this.#visitors.has(name)) continue;
      const running = new ConfiguredVisitor({ ...plan, ...table, version, sockets, log: log.child({ visitor: name }) });
      this.#visitors.set(name, { table, plan, running });
      void running.run();
    }
  }
}
