import process from 'node:process';
import { GENERATE_CERTIFICATE, SELF_TEST } from './own-program.ts';
import { holdYoungGeneration } from './young-generation.ts';

// The entry point. The program runs its first two parts as child processes and waits for them, so they load only what they need.
const [, , role, ...words] = process.argv;
if (role === SELF_TEST) await (await import('./wire/self-test.ts')).selfTest(words);
else if (role === GENERATE_CERTIFICATE) await (await import('./settings/generate-certificate.ts')).generateCertificate(words);
else {
  // A SIGHUP reloads a server's certificates (reload.ts). It must not end a server that is still starting.
  if (role === 'server') process.on('SIGHUP', () => {});
  holdYoungGeneration();
  await (await import('./command-line.ts')).commandLine();
}
