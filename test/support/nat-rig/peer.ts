/**
 * The programs at both ends of a tunnel in the rig, which the tests can't reach themselves:
 *
 *     peer.ts target      serves on a port that it prints; each visitor says in a line what it wants
 *     peer.ts visitor     does what it reads, one line each, all at once, and begins each line that it prints with the line's name:
 *         NAME download PORT BYTES    "BYTES HASH" of what came
 *         NAME upload PORT BYTES      what the target saw
 *         NAME stop PORT BYTES        as download, but reads nothing before "NAME go"
 *         NAME echo PORT              says "open", then sends back and forth the text of every "NAME say TEXT"
 */
import { once } from 'node:events';
import net from 'node:net';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { receive, sendPayload } from '../payload.ts';

const SEED = 7;
/** What a line "NAME word rest" of a transfer that is under way does. */
const listeners = new Map<string, (rest: string) => void>();

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

async function firstLine(socket: net.Socket): Promise<string> {
  let line = '';
  while (!line.endsWith('\n')) {
    const chunk: unknown = socket.read(1);
    if (Buffer.isBuffer(chunk)) line += chunk.toString('latin1');
    else await once(socket, 'readable');
  }
  return line.trim();
}

async function serve(socket: net.Socket): Promise<void> {
  const [what, bytes] = (await firstLine(socket)).split(' ');
  if (what === 'download') {
    const reports = setInterval(() => say(`sent ${socket.bytesWritten}`), 100);
    socket.once('close', () => clearInterval(reports));
    await sendPayload(socket, Number(bytes), SEED);
  } else if (what === 'upload') {
    const { bytes: seen, hash } = await receive(socket);
    socket.end(`${seen} ${hash}`);
  } else {
    socket.pipe(socket);
  }
}

async function target(): Promise<void> {
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', (error) => say(`cut: ${error.message}`));
    serve(socket).catch((error: Error) => say(`cut: ${error.message}`));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  say(`port ${typeof address === 'object' ? address?.port : ''}`);
}

async function visit(name: string, what: string, port: number, bytes: number): Promise<void> {
  const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const failed = new Promise<never>((_, reject) => {
    socket.on('error', reject);
  });
  failed.catch(() => undefined); // the code that waits below gets the error
  await Promise.race([once(socket, 'connect'), failed]);
  socket.write(`${what === 'stop' ? 'download' : what} ${bytes}\n`);
  const work = async (): Promise<void> => {
    if (what === 'upload') {
      await sendPayload(socket, bytes, SEED);
      let answer = '';
      for await (const chunk of socket) answer += String(chunk);
      say(`${name} ${answer}`);
      return;
    }
    if (what === 'echo') {
      listeners.set(name, (text) => socket.write(text));
      socket.on('data', (chunk: Buffer) => say(`${name} echoed ${chunk.toString()}`));
      say(`${name} open`);
      await once(socket, 'close');
      return;
    }
    if (what === 'stop') {
      socket.pause();
      await new Promise<void>((resolve) => listeners.set(name, () => resolve()));
    }
    const { bytes: seen, hash } = await receive(socket);
    say(`${name} ${seen} ${hash}`);
    socket.end();
  };
  await Promise.race([work(), failed]);
}

async function visitor(): Promise<void> {
  say('ready');
  for await (const line of createInterface({ input: process.stdin })) {
    const [name = '', what = '', ...rest] = line.split(' ');
    const known = listeners.get(name);
    if (known) known(rest.join(' '));
    else visit(name, what, Number(rest[0]), Number(rest[1])).catch((error: Error) => say(`${name} failed: ${error.message}`));
  }
}

await (process.argv[2] === 'target' ? target() : visitor());
