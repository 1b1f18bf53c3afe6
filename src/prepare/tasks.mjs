import { spawn } from 'node:child_process';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { prepare } from './prepare.mjs';
import { nodeModule, PrepareError, root, run, say } from './run.mjs';

const jest = [nodeModule('jest', 'bin', 'jest.js')];

/** What can be done besides preparing; each gets the words after its name. */
const tasks = { start, test, endurance, lint, bench, adit: runProgram };

/**
 * Prepares the checkout and runs a task.
 * @param {string[]} words the task's name and arguments; none = prepare only
 */
export async function runTask([name, ...args]) {
  const task = name === undefined ? () => {} : tasks[name];
  if (task === undefined) throw new PrepareError(`there is no task ${name}, only ${Object.keys(tasks).join(', ')}`);
  await prepare();
  await task(args);
}

/** Runs the compiled program in this very process, so that signals reach it. */
async function runProgram(args) {
  const main = path.join(root, 'dist', 'main.js');
  process.argv = [process.execPath, main, ...args];
  await import(pathToFileURL(main).href);
}

async function start(args) {
  await runProgram(['server', ...args]);
}

/** The lint and every test, or only the tests that are named. */
async function test(args) {
  if (args.length > 0) say('running the named tests only, without the lint');
  else await lint();
  await runNode([...jest, ...args]);
}

/** The suites of test/e2e at full length, those that are only for this (`*.endurance.ts`) too, one after another (some watch memory, some the clock), and the fuzzing and property tests of the parsers with 100,000 cases each. */
async function endurance(args) {
  process.env.ADIT_ENDURANCE = '1';
  await runNode([...jest, '--runInBand', '--testMatch', '**/test/**/*.(test|endurance).ts', '--', ...(args.length > 0 ? args : ['test/e2e', 'test/engine/http/', 'test/engine/socks/', 'test/fuzz/'])]);
}

/** A measurement: `tunnel` is bench/tunnel.ts. */
async function bench([name, ...args]) {
  await runNode(['--import', pathToFileURL(nodeModule('tsx', 'dist', 'esm', 'index.mjs')).href, path.join('bench', `${name}.ts`), ...args]);
}

/** Runs Node on our own terminal; its exit code becomes ours. */
async function runNode(args) {
  const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit' });
  process.exitCode = await new Promise((resolve) => child.on('close', (code) => resolve(code ?? 1)));
}

/** Rules for the code, types of tests and benchmarks, and the directions of imports. */
async function lint() {
  const node = process.execPath;
  const checks = [
    run('The types of tests and benchmarks', [node, nodeModule('typescript', 'bin', 'tsc'), '--project', path.join('test', 'tsconfig.json')]),
    run('oxlint', [node, nodeModule('oxlint', 'bin', 'oxlint'), '--type-aware', '--deny-warnings']),
    run('The directions of imports', [node, nodeModule('dependency-cruiser', 'bin', 'dependency-cruise.mjs'), '--config', '.dependency-cruiser.cjs', 'src', 'test', 'bench']),
  ];
  say('checking the code ...');
  const failed = (await Promise.allSettled(checks)).filter(({ status }) => status === 'rejected');
  if (failed.length > 0) throw new PrepareError(failed.map(({ reason }) => reason.message).join('\n'));
}
