#!/usr/bin/env node
import process from 'node:process';

/** `npx adit server | agent ...` in a checkout: prepares what is missing or stale, saying so on stderr, and runs the command. */
if (process.env.npm_command === 'exec') endWithShell();
process.argv.splice(2, 0, 'adit');
await import('./prepare.mjs');

/** npx runs this program in a shell; a signal to npx ends that shell, but not this program. */
function endWithShell() {
  const shell = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, 500);
  timer.unref();
}
