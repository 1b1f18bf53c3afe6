import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import path from 'node:path';

/** The package's root directory. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

/** One line on stderr: stdout belongs to the program that is being prepared. */
export function say(line) {
  process.stderr.write(`adit: ${line}\n`);
}

/** Something that the reader of the message can do something about: shown without a stack. */
export class PrepareError extends Error {
  name = 'PrepareError';
}

/** A path inside node_modules: `nodeModule('prisma', 'build', 'index.js')`. */
export function nodeModule(...segments) {
  return path.join(root, 'node_modules', ...segments);
}

/**
 * Runs a program to its end, silently; what it printed is shown only when it fails.
 * @param {string} what what is being done, for the message of a failure
 * @param {string[]} command program and arguments
 * @param {{env?: Record<string, string>, hint?: string, show?: boolean}} options `hint` says what to do about a failure;
 *   `show` passes the program's output through
 * @returns {Promise<string>} what it printed on stdout
 * @throws {PrepareError} when it can't be started or exits with another code than 0
 */
export function run(what, [program, ...args], { env = {}, hint = '', show = false } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: root,
      env: { ...process.env, ...env, PATH: `${nodeModule('.bin')}${path.delimiter}${process.env.PATH ?? ''}` },
      stdio: show ? ['ignore', 'inherit', 'inherit'] : ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32' && !path.isAbsolute(program),
    });
    let all = '';
    let out = '';
    child.stdout?.on('data', (chunk) => { out += chunk; all += chunk; });
    child.stderr?.on('data', (chunk) => { all += chunk; });
    child.on('error', (error) => reject(new PrepareError(`${what} failed: ${program}: ${error.message}. ${hint}`.trim())));
    child.on('close', (code, signal) => {
      if (code === 0) return resolve(out);
      process.stderr.write(all);
      reject(new PrepareError(`${what} failed (${signal ?? `exit code ${code}`}). ${hint}`.trim()));
    });
  });
}
