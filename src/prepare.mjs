// For `npm start`, `npm test` and others: installs, generates and compiles everything that is missing or outdated, then runs the task named by
// the first argument with the remaining arguments, if any. Plain JavaScript without packages, because it runs before packages are installed.
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import process from 'node:process';
import { PrepareError, root, run, say } from './prepare/run.mjs';
import { prepare } from './prepare/steps.mjs';

const tasks = { start: (args) => runProgram(['server', ...args]), adit: runProgram, test, endurance, lint };
const [name, ...words] = process.argv.slice(2);
try {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) throw new PrepareError(`Node 20.19 or newer is needed, this is ${process.versions.node} (${process.execPath})`);
  if (name !== undefined && !(name in tasks)) throw new PrepareError(`there is no task ${name}, only ${Object.keys(tasks).join(', ')}`);
  await prepare();
  if (name !== undefined) await tasks[name](words);
} catch (error) {
  if (!(error instanceof PrepareError)) throw error;
  for (const line of error.message.split('\n')) say(line);
  process.exitCode = 1;
}

/** Runs the compiled program in this process, so that it receives signals. */
async function runProgram(args) {
  process.argv = [process.execPath, `${root}dist/main.js`, ...args];
  // Not a literal, since the type checker would then read the bundler's output.
  await import(new URL('../dist/main.js', import.meta.url).href);
}

async function test(args) {
  if (args.includes('--coverage')) return coverage(args.filter((word) => word !== '--coverage'));
  if (args.length > 0) say('running the named tests only, without the lint');
  else await lint();
  await jest(args);
}

/**
 * Runs the suites and reports their coverage of src in .cache/coverage/index.html. Only covers the suites' own processes: the servers and
 * agents that they start run the bundled program, whose lines cannot be mapped reliably to the sources.
 */
async function coverage(args) {
  const directory = `${root}.cache/coverage`;
  rmSync(directory, { recursive: true, force: true });
  process.env.NODE_V8_COVERAGE = `${directory}/processes`;
  // In one process: jest kills its workers before they have written what they ran.
  await jest(['--runInBand', ...args]);
  delete process.env.NODE_V8_COVERAGE;
  say('reading what was run ...');
  const files = "--all --exclude-after-remap --include 'src/**/*.ts' --exclude 'src/**/generated/**'";
  await run('c8', `c8 report --temp-directory ${directory}/processes --reports-dir ${directory} --reporter html --reporter text ${files} > ${directory}/report.txt`);
  say(`the lines that were run: ${directory}/index.html, as text in report.txt`);
}

/** Runs sequentially (some tests measure memory or time): test/e2e at full length, endurance-only suites, and all cases of the parsers' property tests. */
async function endurance(args) {
  process.env.ADIT_ENDURANCE = '1';
  const suites = args.length > 0 ? args : ['test/e2e', 'test/engine/http/', 'test/engine/socks/', 'test/fuzz/', 'test/model/', 'test/project/outside-input', 'test/rules/', 'test/legacy/(input|parameters)', 'test/schema/host-parsers', 'test/wire/peer-text'];
  await jest(['--runInBand', '--testMatch', '**/test/**/*.(test|endurance).ts', '--', ...suites]);
}

/** Runs jest in our terminal, and uses its exit code as ours. */
async function jest(args) {
  const child = spawn(process.execPath, ['node_modules/jest/bin/jest.js', ...args], { cwd: root, stdio: 'inherit' });
  process.exitCode = await new Promise((resolve) => child.on('close', (code) => resolve(code ?? 1)));
}

async function lint() {
  say('checking the code ...');
  const checks = await Promise.allSettled([
    run('The types of tests and benchmarks', 'tsc --project test/tsconfig.json'),
    run('oxlint', 'oxlint --type-aware --deny-warnings'),
    run('The directions of imports', 'depcruise --config .dependency-cruiser.cjs src test bench'),
  ]);
  const failed = checks.filter(({ status }) => status === 'rejected');
  if (failed.length > 0) throw new PrepareError(failed.map(({ reason }) => reason.message).join('\n'));
}
