#!/usr/bin/env node
import process from 'node:process';

/** `npx adit server | agent ...` in a checkout: prepares missing or outdated files, reports this on stderr, and runs the command. */
if (process.env.npm_command === 'exec') endWithShell();
process.argv.splice(2, 0, 'adit');
await import('./prepare.mjs');

/** Ends this program with npx's shell, since a signal to npx ends only that shell. */
function endWithShell() {
  const shell = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, 500);
  timer.unref();
}
