import path from 'node:path';
import process from 'node:process';
import { Argument, type Command, Option } from 'commander';
import { ownProgram } from './own-program.ts';
import type { Init } from './service/service.ts';
import type { ServiceProgram } from './service/units.ts';

type Kind = ServiceProgram['kind'];

/** Adds the command `service`. @param kinds the programs that this file can run */
export function addServiceCommands(program: Command, kinds: readonly Kind[]): void {
  const service = program.command('service').enablePositionalOptions().summary(`run the ${kinds.join(' or the ')} at boot`).description(
    'Installs, shows or removes a service of this machine: a unit of systemd, or an init script. The data stays when the service is removed.',
  );
  const kind = () => new Argument('<kind>', 'the program').choices(kinds);
  const init = () => new Option('--init <INIT>', 'what starts services here (default: found out)').choices(['systemd', 'procd', 'sysv']);

  service.command('install')
    .description('Installs and starts a service. The arguments after the kind are those of `adit server` or `adit agent`.')
    .addArgument(kind())
    .argument('[args...]', 'arguments of the program, such as --server HOST:PORT')
    .addOption(init())
    .option('--print', 'print the unit or script instead of installing it')
    .allowUnknownOption()
    .passThroughOptions()
    .action(async (kind: Kind, args: readonly string[], options: { readonly init?: Init; readonly print?: boolean }) => {
      const { initOfMachine, installService, serviceText } = await import('./service/service.ts');
      const wanted = { kind, command: ownProgram(), ...withoutKeyFile(kind, args) };
      const chosen = options.init ?? initOfMachine();
      if (options.print) process.stdout.write(serviceText(wanted, chosen));
      else installService(wanted, chosen);
    });
  service.command('status').description('Shows the state of a service.').addArgument(kind()).addOption(init())
    .action(async (kind: Kind, options: { readonly init?: Init }) => {
      const { initOfMachine, serviceStatus } = await import('./service/service.ts');
      process.exitCode = serviceStatus(kind, options.init ?? initOfMachine());
    });
  const uninstall = service.command('uninstall').description('Stops and removes a service. Its data stays.').addArgument(kind()).addOption(init());
  if (kinds.includes('server')) uninstall.option('--purge', "remove the server's data, too");
  uninstall.action(async (kind: Kind, options: { readonly init?: Init; readonly purge?: true }) => {
    const { initOfMachine, uninstallService } = await import('./service/service.ts');
    uninstallService(kind, options.init ?? initOfMachine(), options.purge === true);
  });
}

/** Takes the agent's key file out of the arguments: the service is given it in its own way. Other files are found from any directory. */
function withoutKeyFile(kind: Kind, given: readonly string[]): Pick<ServiceProgram, 'args' | 'keyFile'> {
  const args = given.flatMap((word) => /^(--config|--vkey-file)=([^]+)$/.exec(word)?.slice(1) ?? [word]);
  const at = kind === 'agent' ? args.indexOf('--vkey-file') : -1;
  const file = args[at + 1];
  const rest = at < 0 || file === undefined ? args : [...args.slice(0, at), ...args.slice(at + 2)];
  return {
    args: rest.map((word, n) => rest[n - 1] === '--config' ? path.resolve(word) : word),
    keyFile: at < 0 || file === undefined ? '' : path.resolve(file),
  };
}
