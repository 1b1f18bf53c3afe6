import process from 'node:process';
import { command } from './prepare/command.mjs';

/**
 * `npm start` and `npm test` on a fresh clone: installs, generates and compiles what is missing or stale, then does the task.
 *
 *     node src/prepare.mjs                  only prepare
 *     node src/prepare.mjs start [flags]    run the server with these flags
 *     node src/prepare.mjs test [arguments] lint and every test; with arguments only the tests jest is told to run
 *     node src/prepare.mjs lint             only the lint
 *     node src/prepare.mjs bench <name>     a measurement of bench/
 *
 * Plain JavaScript without packages, because it runs before there are any.
 */
await command(process.argv.slice(2));
