import path from 'node:path';
import process from 'node:process';
import { Option, type Command } from 'commander';
import { PassedSelfTests } from './agent/passed-self-tests.ts';
import { runtimeDirectory } from './agent/status/runtime-directory.ts';
import { ownCommand, SELF_TEST } from './own-program.ts';
import { notifyServiceManager } from './service-manager.ts';
import type { AgentFlags } from './settings/agent-options.ts';
import { sharedHelp } from './settings/shared-help.ts';
import type { VisitFlags } from './settings/visit-options.ts';
import { version } from './version.ts';
import { SelfTests } from './wire/self-tests.ts';

const SERVER_HELP = "the server's bridge, such as tunnel.example.com:8024; several servers of one installation are separated by commas";

/** Adds the commands `agent` and `visit`. */
export function addAgentCommands(program: Command): void {
  program.command('agent')
    .summary('run the agent, in the network of the targets')
    .description('Connects to a server and opens connections to the targets of its tunnels and hosts. Reconnects until you stop it.')
    .option('--config <FILE>', 'a configuration file with these options and with tunnels, hosts and visitors (docs/agent.md); flags take precedence')
    .option('--check', 'check the configuration file, print what it would do, and exit')
    .option('--status', "show the state of this user's running agents, and exit")
    .option('--json', 'print changes of state, or the results of --check and --status, as JSON, one object per line')
    .option('--server <HOST:PORT>', SERVER_HELP)
    .option('--tls', 'use TLS 1.3; requires the TLS port of the server')
    .option(
      '--tls-fingerprint <SHA256>',
      "the fingerprint of the server's certificate; the agent accepts no other (implies --tls). Without it, the vkey authenticates the server",
    )
    .option('--vkey <KEY>', "the client's verification key (prefer ADIT_VKEY or --vkey-file: other users of this machine can see flags)")
    .option('--vkey-file <FILE>', 'a file that holds the key (or ADIT_VKEY_FILE)')
    .option(
      '--allow-files <DIR>',
      'a directory from which tunnels may serve files, with its subdirectories; repeatable (default: none)',
      (directory: string, before: readonly string[] | undefined) => [...before ?? [], directory],
    )
    .addOption(new Option('--log-level <LEVELS>', `${sharedHelp.logLevel} (default: info)`))
    .addOption(new Option('--log-format <FORMAT>', `${sharedHelp.logFormat} (default: text)`))
    .addOption(new Option('--sockets <WAY>', `${sharedHelp.sockets} (default: auto)`))
    .action(runAgentCommand);

  program.command('visit')
    .summary('open a local port that leads to a tunnel without a port of its own')
    .description(
      'Authenticates with the password of a secret or p2p tunnel, and opens a local port that leads to its targets. '
        + 'Reconnects until you stop it.',
    )
    .requiredOption('--server <HOST:PORT>', SERVER_HELP)
    .requiredOption('--type <TYPE>', "the tunnel's type: secret or p2p")
    .option('--password <TEXT>', "the tunnel's password (prefer ADIT_VISIT_PASSWORD or --password-file: other users of this machine can see flags)")
    .option('--password-file <FILE>', 'a file that holds the password (or ADIT_VISIT_PASSWORD_FILE)')
    .requiredOption('--listen <[HOST:]PORT>', 'the local port to open (default host: 127.0.0.1)')
    .option('--tls', 'use TLS 1.3; requires the TLS port of the server')
    .option(
      '--tls-fingerprint <SHA256>',
      "the fingerprint of the server's certificate; the visitor accepts no other (implies --tls). Without it, the password authenticates the server",
    )
    .addOption(new Option('--log-level <LEVELS>', `${sharedHelp.logLevel} (default: info)`))
    .addOption(new Option('--log-format <FORMAT>', `${sharedHelp.logFormat} (default: text)`))
    .addOption(new Option('--sockets <WAY>', `${sharedHelp.sockets} (default: auto)`))
    .addOption(new Option('--half-closed-seconds <SECONDS>', `${sharedHelp.halfClosedSeconds} (default: 300)`))
    .action(runVisitCommand);
}

/** Runs `adit agent`. */
export async function runAgentCommand(flags: AgentFlags): Promise<void> {
  if (flags.status) {
    const { agentStatus } = await import('./agent/program.ts');
    const text = await agentStatus(flags.config === undefined ? undefined : path.resolve(flags.config), flags.json === true);
    process.stdout.write(text ?? (flags.json ? '' : 'no agent of this user is running\n'));
    if (text === undefined) process.exitCode = 1;
    return;
  }
  const tests = beginSelfTests(flags.check ? 'none' : flags.sockets);
  const { readAgentOptions } = await import('./settings/agent-options.ts');
  const { session, config, json, sockets, ...logging } = readAgentOptions(flags, process.env);
  if (flags.check) {
    const { SettingsError } = await import('./settings/settings-error.ts');
    const { checkConfig } = await import('./agent/program.ts');
    if (config === undefined) throw new SettingsError(['--check: give the file with --config FILE']);
    const { ok, text } = await checkConfig(config, session, json);
    (ok || json ? process.stdout : process.stderr).write(text);
    if (!ok) process.exitCode = 1;
    return;
  }
  const { createLogs } = await import('./log.ts');
  const log = createLogs(logging, json)('agent');
  const { runAgent } = await import('./agent/program.ts');
  const { chooseSockets } = await import('./wire/choose-sockets.ts');
  const backend = await chooseSockets(sockets, tests, (problem) => log.warn(problem));
  notifyServiceManager(process.env, log);
  await runAgent({ session, config, version, sockets: backend, log });
}

/** Runs `adit visit`. */
export async function runVisitCommand(flags: VisitFlags): Promise<void> {
  const tests = beginSelfTests(flags.sockets);
  const { readVisitOptions } = await import('./settings/visit-options.ts');
  const { servers, tls, type, password, listen, sockets, halfClosedSeconds, ...logging } = readVisitOptions(flags, process.env);
  const { createLogs } = await import('./log.ts');
  const log = createLogs(logging)('agent');
  const { runVisitor } = await import('./agent/visitor.ts');
  const { chooseSockets } = await import('./wire/choose-sockets.ts');
  const backend = await chooseSockets(sockets, tests, (problem) => log.warn(problem));
  await runVisitor({ servers, tls, type, password, listen, sockets: backend, halfClosedMs: halfClosedSeconds * 1000, version, log });
}

/** A child process tests the sockets while this one loads the rest of the program, unless they have been tested since the last boot. */
function beginSelfTests(given: string | undefined): SelfTests {
  const tests = new SelfTests(ownCommand(SELF_TEST), new PassedSelfTests(runtimeDirectory(process.env), version));
  if ((given ?? process.env['ADIT_SOCKETS'] ?? 'auto') === 'auto') tests.begin();
  return tests;
}
