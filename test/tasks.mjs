// `npm test`, `npm run test:slow`, `npm run test:postgresql`, `npm run endurance`, `npm run fuzz` and `npm run lint`, in a prepared checkout: the first argument names the task.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { setPriority } from 'node:os';
import process from 'node:process';
import { PrepareError, root, run, say } from '../src/prepare/run.mjs';
import { makeRunDirectory, removeRun } from './support/run-directory.mjs';

/** What ends a run early. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const tasks = { test, slow, postgresql, endurance, fuzz, types, lint };
const [name, ...words] = process.argv.slice(2);
try {
  await tasks[name](words);
} catch (error) {
  if (!(error instanceof PrepareError)) throw error;
  for (const line of error.message.split('\n')) say(line);
  process.exitCode = 1;
}

async function test(args) {
  if (args.includes('--coverage')) return coverage(args.filter((word) => word !== '--coverage'));
  if (args.length > 0) {
    say('running the named tests only, without the type checker');
    return jest(args);
  }
  const [, checked] = await Promise.all([jest(['--testMatch', '**/test/**/*.test.ts']), typesBeside()]);
  if (checked.passed) return;
  process.stderr.write(checked.output);
  process.exitCode = 1;
}

/** Runs the suites that take longer than `npm test` may, which has a short form of each. */
async function slow(args) {
  // The paths come first: behind it, each would be one more pattern of the option.
  await jest([...args, '--testMatch', '**/test/**/*.slow.ts']);
}

/** Runs on PostgreSQL what `npm test` runs on SQLite, except test/e2e: the suites with `eitherDialect` (test/support/database.ts). */
async function postgresql(args) {
  process.env.ADIT_TEST_ON = 'postgresql';
  const suites = testFiles().filter((name) => /^test\/(?!e2e\/).*\.test\.ts$/.test(name) && readFileSync(root + name, 'utf8').includes('eitherDialect('));
  await jest(['--testMatch', ...suites.map((name) => `**/${name}`), '--testNamePattern', ' on PostgreSQL ', ...args]);
}

/**
 * Runs the type checker while the suites leave the processors idle, for a sixth of their time: it gets a third of what a process of theirs gets. An interruption ends its whole
 * process group, since its native process goes on by itself. What else the lint checks changes nothing that the program does.
 */
async function typesBeside() {
  const child = spawn(process.execPath, ['test/tasks.mjs', 'types'], { cwd: root, detached: true });
  const { pid } = child;
  if (pid === undefined) throw new PrepareError('The type checker cannot be started.');
  setPriority(pid, 5);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  let interrupted = false;
  const end = () => {
    interrupted = true;
    if (child.exitCode === null && child.signalCode === null) process.kill(-pid, 'SIGKILL');
  };
  for (const signal of signals) process.once(signal, end);
  const code = await new Promise((resolve) => child.on('close', resolve));
  for (const signal of signals) process.off(signal, end);
  // The suites report an interruption.
  return { passed: code === 0 || interrupted, output };
}

/**
 * Runs the suites and reports their coverage of src in .cache/coverage/index.html. Only covers the suites' own processes: the servers and
 * agents that they start run the bundled program, whose lines cannot be mapped reliably to the sources, and scripts of tests run sources that were compiled in another way.
 */
async function coverage(args) {
  const directory = `${root}.cache/coverage`;
  rmSync(directory, { recursive: true, force: true });
  const processes = `${directory}/processes`;
  process.env.NODE_V8_COVERAGE = processes;
  // In one process: jest kills its workers before they have written what they ran.
  const pid = await jest(['--runInBand', ...args]);
  delete process.env.NODE_V8_COVERAGE;
  say('reading what was run ...');
  for (const name of readdirSync(processes)) if (!name.startsWith(`coverage-${pid}-`)) rmSync(`${processes}/${name}`);
  const files = "--all --exclude-after-remap --include 'src/**/*.ts' --exclude 'src/**/generated/**'";
  await run(
    'c8',
    `c8 report --temp-directory ${processes} --reports-dir ${directory} --reporter html --reporter text ${files} > ${directory}/report.txt`,
  );
  say(`the lines that were run: ${directory}/index.html, as text in report.txt`);
}

/**
 * Runs sequentially (some tests measure memory or time): test/e2e at full length, endurance-only suites, all cases of the parsers' property tests, and on both databases what
 * `npm test` only runs on one.
 */
async function endurance(args) {
  process.env.ADIT_ENDURANCE = '1';
  const suites = args.length > 0
    ? args
    : [
      'test/e2e',
      'test/engine/http/',
      'test/engine/socks/',
      'test/engine/vhost/client-hello',
      'test/fuzz/',
      'test/model/',
      'test/panel/(accessibility|memory|speed)',
      'test/rules/',
      'test/authorisation/',
      'test/http/(login|tokens)',
      'test/legacy/',
      'test/migration/round-trip',
      'test/schema/',
      'test/store/(search-index|totals)',
      'test/wire/(mux|peer-text|sockets)',
    ];
  // A slow suite that only runs another one in a longer form is done by that one.
  const forms = testFiles().filter((name) => name.endsWith('.slow.ts') && /^import '.*\.test\.ts';$/m.test(readFileSync(root + name, 'utf8')));
  const all = ['**/test/**/*.(test|slow|endurance).ts', ...forms.map((name) => `!**/${name}`)];
  await jest(['--testMatch', ...all, '--runInBand', ...suites]);
}

/**
 * Feeds the parsers other inputs again and again, for an hour or as long as `ADIT_FUZZ_SECONDS` says, until one fails. Each round is the long form of
 * test/fuzz; the last one stops early.
 */
async function fuzz(args) {
  const seconds = Number(process.env.ADIT_FUZZ_SECONDS ?? 3600);
  if (!(seconds > 0)) throw new PrepareError(`ADIT_FUZZ_SECONDS must be a number of seconds, not "${process.env.ADIT_FUZZ_SECONDS}"`);
  const end = Date.now() + seconds * 1000;
  process.env.ADIT_FUZZ_END = String(end);
  process.exitCode = 0;
  while (Date.now() < end && process.exitCode === 0) await endurance(args.length > 0 ? args : ['test/fuzz/']);
}

/** The paths of everything in `test`. */
function testFiles() {
  return readdirSync(`${root}test`, { recursive: true }).map((name) => `test/${name}`);
}

/**
 * Runs jest in our terminal, and uses its exit code as ours. Then removes what it left behind, which is an error after a success, and expected after an interruption.
 * @returns its process id
 */
async function jest(args) {
  const directory = makeRunDirectory();
  const child = spawn(process.execPath, ['node_modules/jest/bin/jest.js', ...args], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, TMPDIR: directory },
  });
  let interrupted;
  const interrupt = (signal) => {
    interrupted = signal;
    child.kill(signal);
    setTimeout(() => child.kill('SIGKILL'), 3000).unref(); // a suite may listen for the signal itself
  };
  for (const signal of signals) process.on(signal, interrupt);
  const code = await new Promise((resolve) => child.on('close', (exit) => resolve(exit ?? 1)));
  const left = await removeRun(directory);
  for (const signal of signals) process.off(signal, interrupt);
  process.exitCode = code;
  if (interrupted !== undefined) {
    say(`interrupted; ended ${left.length} processes`);
  } else if (code === 0 && left.length > 0) {
    throw new PrepareError(`The tests passed, but left behind:\n${left.join('\n')}`);
  }
  return child.pid;
}

async function types() {
  say('checking the types ...');
  await allOf(typeChecks());
}

async function lint() {
  say('checking the code ...');
  await allOf([
    ...typeChecks(),
    run('oxlint', 'oxlint --type-aware --deny-warnings'),
    run('The format', 'node test/format.mjs --check', { hint: 'npm run format corrects it.' }),
    run('The search for unused files, exports and packages', 'knip --no-progress --include files,dependencies,exports,types,duplicates'),
    run('The directions of imports', 'depcruise --config .dependency-cruiser.cjs src test bench'),
  ]);
}

function typeChecks() {
  return [run('The types', 'tsc --project test/tsconfig.json'), run("The panel's types", 'tsc --project src/panel/tsconfig.json')];
}

/** @throws {PrepareError} with what each failed check says */
async function allOf(checks) {
  const failed = (await Promise.allSettled(checks)).filter(({ status }) => status === 'rejected');
  if (failed.length > 0) throw new PrepareError(failed.map(({ reason }) => reason.message).join('\n'));
}
