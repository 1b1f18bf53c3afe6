import process from 'node:process';
import type { Logger } from 'pino';
import { formatHostPort } from '../rules/host-port.ts';
import type { SocketBackend } from '../wire/socket.ts';
import { Agent } from './agent.ts';
import type { AgentPlan, GivenSession } from './config/read-config.ts';
import { nameOf } from './declarer.ts';
import { runUntilStopped } from './keep-connected.ts';
import { runtimeDirectory } from './status/runtime-directory.ts';
import { agentSnapshot, configuredSnapshot } from './status/snapshot.ts';
import type { Snapshot } from './status/snapshot-schema.ts';
import { serveStatus } from './status/status-socket.ts';

/** The configuration file can't be used. */
class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

/** How the program is started as an agent. */
export interface AgentProgram {
  readonly session: GivenSession;
  /** The configuration file. Without one, servers and vkey are given in `session`. */
  readonly config: string | undefined;
  readonly log: Logger;
  readonly version: string;
  readonly sockets: SocketBackend;
}

/**
 * Runs an agent as the program, until it is stopped by a signal.
 * @throws {ConfigError} when there is something wrong with the configuration file
 */
export async function runAgent(program: AgentProgram): Promise<void> {
  const { log } = program;
  const { kept, snapshot } = program.config === undefined ? plain(program) : await configured(program, program.config);
  const closeStatus = await serveStatus(runtimeDirectory(process.env), snapshot, log);
  await runUntilStopped({
    run: () => kept.run(),
    stop: async () => {
      await Promise.all([kept.stop(), closeStatus()]);
    },
  }, log);
}

interface Running {
  readonly kept: { run(): Promise<void>; stop(): Promise<void> };
  readonly snapshot: () => Promise<Snapshot>;
}

function plain({ session: { servers, vkey, ...session }, log, version, sockets }: AgentProgram): Running {
  if (servers === undefined || vkey === undefined) throw new Error('an agent without a configuration file needs server and vkey');
  const agent = new Agent({ servers, vkey, ...session, log, version, sockets });
  return { kept: agent, snapshot: () => agentSnapshot({ pid: process.pid, version, config: '' }, servers, agent) };
}

async function configured({ session, log, version, sockets }: AgentProgram, config: string): Promise<Running> {
  const { ConfiguredAgent } = await import('./configured-agent.ts');
  const agent = new ConfiguredAgent({ file: config, given: session, log, version, sockets });
  const problems = await agent.start();
  if (problems.length > 0) throw new ConfigError(problems);
  return { kept: agent, snapshot: () => configuredSnapshot({ pid: process.pid, version, config }, agent) };
}

/** Prints the effect of a configuration file on an agent, or the file's problems. */
export async function checkConfig(file: string, given: GivenSession, json: boolean): Promise<{ readonly ok: boolean; readonly text: string }> {
  const { readAgentConfig } = await import('./config/read-config.ts');
  const read = await readAgentConfig(file, given);
  const ok = 'plan' in read;
  const lines = ok ? planSteps(read.plan) : read.problems;
  if (json) return { ok, text: `${JSON.stringify(ok ? { file, ok, steps: lines } : { file, ok, problems: lines })}\n` };
  return { ok, text: `${(ok ? [`${file} is right. It would`, ...lines.map((step) => `  ${step}`)] : lines).join('\n')}\n` };
}

/** Prints no secrets. */
function planSteps({ servers, tls, session, entries, visitors }: AgentPlan): string[] {
  const bridges = servers.map(formatHostPort).join(' or ');
  const way = tls === undefined ? '' : tls.fingerprint === '' ? ' over TLS' : ` over TLS, with the certificate ${tls.fingerprint}`;
  const steps = session ? [`connect to ${bridges}${way} as an agent`] : [];
  for (const directory of session?.allowFiles ?? []) steps.push(`let tunnels serve files below ${directory}`);
  for (const entry of entries) {
    const [what, targets] = entry.kind === 'tunnel'
      ? [tunnelText(entry.tunnel), entry.tunnel.targets]
      : [
        `${entry.host.host || `${entry.host.platformPrefix} below ${entry.host.platformDomainId}`}${entry.host.location} (${entry.host.scheme})`,
        entry.host.targets,
      ];
    steps.push(`declare ${nameOf(entry)}: ${what}${targets.length === 0 ? '' : ` to ${targets.join(', ')}`}`);
  }
  for (const [name, { type, listen }] of visitors) {
    steps.push(`open ${formatHostPort(listen)} for visitor ${name}, to a ${type} tunnel by way of ${bridges}${way}`);
  }
  return steps;
}

function tunnelText({ mode, port, serverIp, localPath }: Extract<AgentPlan['entries'][number], { kind: 'tunnel' }>['tunnel']): string {
  const where = mode === 'secret' || mode === 'p2p' ? '' : ` on ${serverIp === '' ? '' : `${serverIp} `}${port === 0 ? 'a free port' : `port ${port}`}`;
  return `${mode}${where}${localPath === '' ? '' : ` of ${localPath}`}`;
}

/**
 * Prints the state of this user's running agents.
 * @param config only the agent with this configuration file @returns undefined when none is running
 */
export async function agentStatus(config: string | undefined, json: boolean): Promise<string | undefined> {
  const [{ askAgents }, { statusText }] = await Promise.all([import('./status/ask-agents.ts'), import('./status/status-text.ts')]);
  const all = await askAgents(runtimeDirectory(process.env));
  const wanted = config === undefined ? all : all.filter((agent) => agent.config === config);
  if (wanted.length === 0) return undefined;
  return json ? wanted.map((agent) => `${JSON.stringify(agent)}\n`).join('') : wanted.map(statusText).join('\n');
}
