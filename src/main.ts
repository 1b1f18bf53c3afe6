import process from 'node:process';
import { SELF_TEST } from './own-program.ts';
import { holdYoungGeneration } from './young-generation.ts';

// The entry point. The program runs the self-test as a child process and waits for it, so the self-test loads only what it tests.
const [, , role, ...words] = process.argv;
if (role === SELF_TEST) await (await import('./wire/self-test.ts')).selfTest(words);
else {
  // A SIGHUP reloads a server's certificates (reload.ts). It must not end a server that is still starting.
  if (role === 'server') process.on('SIGHUP', () => {});
  holdYoungGeneration();
  await (await import('./command-line.ts')).commandLine();
}
