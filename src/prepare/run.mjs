import { exec } from 'node:child_process';
import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The package's root directory, with a slash at its end. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

/** One line on stderr: stdout belongs to the program that is being prepared. */
export const say = (line) => void process.stderr.write(`adit: ${line}\n`);

/** Something that the reader of the message can do something about: shown without a stack. */
export class PrepareError extends Error {}

/** Runs a command line, which may name a package's program, in the root. What it prints is shown only when it fails, with what was done and a hint. */
export async function run(what, line, { env = {}, hint = '' } = {}) {
  const PATH = [`${root}node_modules/.bin`, dirname(process.execPath), process.env.PATH ?? ''].join(delimiter); // this very Node runs them
  await promisify(exec)(line, { cwd: root, env: { ...process.env, ...env, PATH }, maxBuffer: Infinity }).catch(({ stdout, stderr, signal, code }) => {
    process.stderr.write(`${stdout}${stderr}`);
    throw new PrepareError(`${what} failed (${signal ?? `exit code ${code}`}). ${hint}`.trim());
  });
}
