import { exec } from 'node:child_process';
import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The package's root directory, with a slash at its end. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

/** Prints a line to stderr: stdout belongs to the program that is being prepared. */
export const say = (line) => void process.stderr.write(`adit: ${line}\n`);

/** An error that the user can fix; it is shown without a stack. */
export class PrepareError extends Error {}

/** Runs a command line in the root, with the packages' programs in PATH. On failure, shows its output, the name of the step, and a hint. */
export async function run(what, line, { env = {}, hint = '' } = {}) {
  const PATH = [`${root}node_modules/.bin`, dirname(process.execPath), process.env.PATH ?? ''].join(delimiter); // uses the same Node
  await promisify(exec)(line, { cwd: root, env: { ...process.env, ...env, PATH }, maxBuffer: Infinity }).catch(
    ({ stdout, stderr, signal, code }) => {
      process.stderr.write(`${stdout}${stderr}`);
      throw new PrepareError(`${what} failed (${signal ?? `exit code ${code}`}). ${hint}`.trim());
    },
  );
}
