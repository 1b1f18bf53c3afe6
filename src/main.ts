import process from 'node:process';
import { SELF_TEST } from './own-program.ts';

// The entry of the program. A self-test is started by another process of it, which waits: it loads nothing but what it tests.
const [, , role, ...words] = process.argv;
if (role === SELF_TEST) await (await import('./wire/self-test.ts')).selfTest(words);
else await import('./command-line.ts');
