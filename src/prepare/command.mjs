import process from 'node:process';
import { PrepareError, say } from './run.mjs';
import { runTask } from './tasks.mjs';

/**
 * Checks Node, prepares the checkout and does a task. What goes wrong in preparing is said in a line or two, exit code 1.
 * @param {string[]} words the task's name and its arguments; none = prepare only
 */
export async function command(words) {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    say(`Node 20.19 or newer is needed, this is ${process.versions.node} (${process.execPath})`);
    process.exit(1);
  }
  try {
    await runTask(words);
  } catch (error) {
    if (!(error instanceof PrepareError)) throw error;
    for (const line of error.message.split('\n')) say(line);
    process.exitCode = 1;
  }
}
