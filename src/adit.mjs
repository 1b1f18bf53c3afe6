#!/usr/bin/env node
import process from 'node:process';

/** `npx adit server | agent ...` in a checkout: prepares what is missing or stale, saying so on stderr, and runs the command. */
if (process.env.npm_command === 'exec') endWithShell();
process.argv.splice(2, 0, 'adit');
await import('./prepare.mjs');

/** npx runs us in a shell, and when it is told to end it ends that shell, but not us. */
function endWithShell() {
  const shell = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, 500);
  timer.unref();
}
