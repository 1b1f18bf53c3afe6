import process from 'node:process';
import { isSea } from 'node:sea';

/** The role of this program in which it tests a way to get sockets, named by the next word. */
export const SELF_TEST = 'self-test-sockets';

/** Flags of Node that would make a second process wait for a debugger, or write a profile over ours. */
const OURS_ALONE = /^--(inspect|cpu-prof|heap-prof|prof)/;

/** The command that runs the self-test: this very program, whether it is a script of Node's or an executable that has Node inside. */
export function selfTestCommand(): readonly string[] {
  const flags = process.execArgv.filter((flag) => !OURS_ALONE.test(flag));
  return isSea() ? [process.execPath, SELF_TEST] : [process.execPath, ...flags, process.argv[1] ?? '', SELF_TEST];
}
