import process from 'node:process';
import { isSea } from 'node:sea';

/** The command that tests a socket backend, followed by the name of the backend. */
export const SELF_TEST = 'self-test-sockets';

/** The command that prints a certificate for the bridge. */
export const GENERATE_CERTIFICATE = 'generate-certificate';

/** Flags of Node that the child process must not inherit: it would wait for a debugger, or overwrite our profile. */
const OURS_ALONE = /^--(inspect|cpu-prof|heap-prof|prof)/;

/** The words that run this program, whether it is a script or an executable that embeds Node. */
export function ownProgram(): readonly string[] {
  return isSea() ? [process.execPath] : [process.execPath, process.argv[1] ?? ''];
}

/** The flags of Node that child processes inherit. */
export function ownFlags(): readonly string[] {
  return process.execArgv.filter((flag) => !OURS_ALONE.test(flag));
}

/** The command that runs a part of this program as a child process, whether the program is a script or an executable that embeds Node. */
export function ownCommand(part: typeof SELF_TEST | typeof GENERATE_CERTIFICATE): readonly string[] {
  return isSea() ? [process.execPath, part] : [process.execPath, ...ownFlags(), process.argv[1] ?? '', part];
}
