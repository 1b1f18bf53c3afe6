// For `npm start`, `npm test` and others: installs, generates and compiles everything that is missing or outdated, then runs the program (`adit`) or a
// server (`start`) with the remaining arguments. Without arguments, only prepares, and also installs the packages for tests and other tools.
// Plain JavaScript without packages, because it runs before packages are installed.
import process from 'node:process';
import { PrepareError, root, say } from './prepare/run.mjs';
import { prepare } from './prepare/steps.mjs';

const tasks = { start: (args) => runProgram(['server', ...args]), adit: runProgram };
const [name, ...words] = process.argv.slice(2);
try {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) throw new PrepareError(`Node 20.19 or newer is needed, ${process.execPath} is ${process.version}`);
  if (name !== undefined && !(name in tasks)) throw new PrepareError(`there is no task ${name}, only ${Object.keys(tasks).join(', ')}`);
  await prepare(name === undefined);
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
