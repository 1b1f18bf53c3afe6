import { appendFileSync, readFileSync } from 'node:fs';
import net from 'node:net';
import process from 'node:process';
import { ownProcess } from '../../src/processes/own-process.ts';
import { listenOn } from '../../src/wire/listen-on.ts';

/* A server process that only has ports, for run-processes.test.ts: it notes what it sees in a file. What it does: FAIL, END, STUCK and DIE name the process that cannot start, that cannot be started again, whose event loop stops the first time, or that is killed when it is to end. */

const [, , file = '', port = '', reserved = ''] = process.argv;
const given = { notify: process.env['NOTIFY_SOCKET'] ?? '', watchdog: process.env['WATCHDOG_USEC'] ?? '' };
const own = ownProcess(process.env);
if (!own) throw new Error('it is started by others');
const { number, ports } = own;

function note(event: string): void {
  appendFileSync(file, `${number} ${event}\n`);
}

note(`starts as ${process.pid} with ${JSON.stringify(given)} ${Object.keys(process.env).filter((name) => name.startsWith('NUMBER_OF')).join()}`);
if (process.env['FAIL'] === String(number)) process.exit(3);
if (process.env['END'] === String(number) && readFileSync(file, 'utf8').split(`${number} starts`).length > 2) process.exit(4);
process.on('SIGHUP', () => note('is to reload'));
const server = net.createServer((socket) => socket.end(String(number)));
await listenOn(server, { host: '127.0.0.1', port: Number(port), share: ports.of('tunnel') });
await ports.of('tunnel')('127.0.0.1', Number(reserved)).catch((error: unknown) => note(error instanceof Error ? error.message : ''));
note(`has udp: ${await ports.owned.claim('udp', () => note('gets udp'))}`);
void own.stopping.then(() => {
  note('stops');
  if (process.env['DIE'] === String(number)) process.kill(process.pid, 'SIGKILL');
  server.close();
  own.end();
  setTimeout(() => undefined, 50); // something is open for a while
});
note('is ready');
own.ready(`text of ${number}\n`, `line of ${number}: ${process.pid}`);
if (process.env['STUCK'] === String(number) && !readFileSync(file, 'utf8').includes('is stuck')) {
  note('is stuck');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}
