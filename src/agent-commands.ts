import path from 'node:path';
import process from 'node:process';
import { Option, type Command } from 'commander';
import { createLogs } from './log.ts';
import { ownCommand, SELF_TEST } from './own-program.ts';
import { notifyServiceManager } from './service-manager.ts';
import { readAgentOptions, type AgentFlags } from './settings/agent-options.ts';
import { infoOf } from './settings/settings.ts';
import { SettingsError } from './settings/sources.ts';
import { readVisitOptions, type VisitFlags } from './settings/visit-options.ts';
import { version } from './version.ts';
import { releaseYoungGeneration } from './young-generation.ts';

/** Adds the commands `agent` and `visit`. */
export function addAgentCommands(program: Command): void {
  program.command('agent')
    .summary('run the agent, in the network of the targets')
    .description('Connects to a server and opens connections to the targets of its tunnels and hosts. Reconnects until you stop it.')
    .option('--config <FILE>', 'a configuration file with these options and with tunnels, hosts and visitors (docs/agent.md); flags take precedence')
    .option('--check', 'check the configuration file, print what it would do, and exit')
    .option('--status', "show the state of this user's running agents, and exit")
    .option('--json', 'print changes of state, or the results of --check and --status, as JSON, one object per line')
    .option('--server <HOST:PORT>', "the server's bridge, such as tunnel.example.com:8024")
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
    .addOption(new Option('--log-level <LEVELS>', `${infoOf('logLevel').help} (default: info)`))
    .addOption(new Option('--log-format <FORMAT>', `${infoOf('logFormat').help} (default: text)`))
    .addOption(new Option('--sockets <WAY>', `${infoOf('sockets').help} (default: auto)`))
    .action(runAgentCommand);

  program.command('visit')
    .summary('open a local port that leads to a tunnel without a port of its own')
    .description(
      'Authenticates with the password of a secret or p2p tunnel, and opens a local port that leads to its targets. '
        + 'Reconnects until you stop it.',
    )
    .requiredOption('--server <HOST:PORT>', "the server's bridge, such as tunnel.example.com:8024")
    .requiredOption('--type <TYPE>', "the tunnel's type: secret or p2p")
    .option('--password <TEXT>', "the tunnel's password (prefer ADIT_VISIT_PASSWORD or --password-file: other users of this machine can see flags)")
    .option('--password-file <FILE>', 'a file that holds the password (or ADIT_VISIT_PASSWORD_FILE)')
    .requiredOption('--listen <[HOST:]PORT>', 'the local port to open (default host: 127.0.0.1)')
    .option('--tls', 'use TLS 1.3; requires the TLS port of the server')
    .option(
      '--tls-fingerprint <SHA256>',
      "the fingerprint of the server's certificate; the visitor accepts no other (implies --tls). Without it, the password authenticates the server",
    )
    .addOption(new Option('--log-level <LEVELS>', `${infoOf('logLevel').help} (default: info)`))
    .addOption(new Option('--log-format <FORMAT>', `${infoOf('logFormat').help} (default: text)`))
    .addOption(new Option('--sockets <WAY>', `${infoOf('sockets').help} (default: auto)`))
    .addOption(new Option('--half-closed-seconds <SECONDS>', `${infoOf('halfClosedSeconds').help} (default: 300)`))
    .action(runVisitCommand);
}

/** Runs `adit agent`. */
export async function runAgentCommand(flags: AgentFlags): Promise<void> {
  const { runAgent, checkConfig, agentStatus } = await import('./agent/program.ts');
  if (flags.status) {
    const text = await agentStatus(flags.config === undefined ? undefined : path.resolve(flags.config), flags.json === true);
    process.stdout.write(text ?? (flags.json ? '' : 'no agent of this user is running\n'));
    if (text === undefined) process.exitCode = 1;
    return;
  }
  const { session, config, json, sockets, ...logging } = readAgentOptions(flags, process.env);
  if (flags.check) {
    if (config === undefined) throw new SettingsError(['--check: give the file with --config FILE']);
    const { ok, text } = await checkConfig(config, session, json);
    (ok || json ? process.stdout : process.stderr).write(text);
    if (!ok) process.exitCode = 1;
    return;
  }
  const { chooseSockets } = await import('./wire/choose-sockets.ts');
  const log = createLogs(logging, json)('agent');
  releaseYoungGeneration();
  notifyServiceManager(process.env, log);
  await runAgent({ session, config, version, sockets: await chooseSockets(sockets, ownCommand(SELF_TEST), (problem) => log.warn(problem)), log });
}

/** Runs `adit visit`. */
export async function runVisitCommand(flags: VisitFlags): Promise<void> {
  const { server: address, tls, type, password, listen, sockets, halfClosedSeconds, ...logging } = readVisitOptions(flags, process.env);
  const { chooseSockets } = await import('./wire/choose-sockets.ts');
  const { runVisitor } = await import('./agent/visitor.ts');
  const log = createLogs(logging)('agent');
  const backend = await chooseSockets(sockets, ownCommand(SELF_TEST), (problem) => log.warn(problem));
  releaseYoungGeneration();
  await runVisitor({ server: address, tls, type, password, listen, sockets: backend, halfClosedMs: halfClosedSeconds * 1000, version, log });
}
