import { createHash, randomBytes } from 'node:crypto';
import process from 'node:process';
import { onreadBackend } from './onread-socket.ts';
import type { ByteSocket } from './socket.ts';

/**
 * A program: says "works" when sockets that read into one buffer do on this Node. Several connections at once, both directions, each
 * paused and resumed, each direction ended by itself; every byte is looked at.
 */

const CONNECTIONS = 4;
const BYTES = 600_000;

/** Sends `sent`, reads up to the end. @returns the hash of what was read */
function exchange(socket: ByteSocket, sent: Buffer): Promise<string> {
  const seen = createHash('sha256');
  let ended = false;
  return new Promise((resolve, reject) => {
    socket.attach({
      borrows: true,
      onData(chunk) {
        seen.update(chunk);
        socket.pause();
        setImmediate(() => socket.resume());
      },
      onEnd() { ended = true; },
      onDrain() { /* everything was queued at once */ },
      onClose(error) {
        if (error || !ended) reject(error ?? new Error('closed before its end'));
        else resolve(seen.digest('hex'));
      },
    });
    socket.write(sent);
    socket.end();
  });
}

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const up = Array.from({ length: CONNECTIONS }, () => randomBytes(BYTES));
const down = randomBytes(BYTES);
const received: Promise<string>[] = [];
const server = await onreadBackend.listen({
  host: '127.0.0.1', port: 0,
  onSocket: (socket) => received.push(exchange(socket, down)),
  onError: (error) => { throw error; },
});
const answers = await Promise.all(up.map(async (bytes) => exchange(await onreadBackend.connect({ host: '127.0.0.1', port: server.port, timeoutMs: 5000 }), bytes)));
const seen = await Promise.all(received);
await server.close();
const whole = answers.every((hash) => hash === hashOf(down)) && up.every((bytes) => seen.includes(hashOf(bytes)));
if (whole) process.stdout.write('works');
else process.exitCode = 1;
