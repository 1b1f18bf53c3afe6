import process from 'node:process';
import { isSea } from 'node:sea';

/** The command that tests a socket backend, followed by the name of the backend. */
export const SELF_TEST = 'self-test-sockets';

/** Flags of Node that the child process must not inherit: it would wait for a debugger, or overwrite our profile. */
const OURS_ALONE = /^--(inspect|cpu-prof|heap-prof|prof)/;

/** The command that runs the self-test with this program, whether it is a script or an executable that embeds Node. */
export function selfTestCommand(): readonly string[] {
  const flags = process.execArgv.filter((flag) => !OURS_ALONE.test(flag));
  return isSea() ? [process.execPath, SELF_TEST] : [process.execPath, ...flags, process.argv[1] ?? '', SELF_TEST];
}
