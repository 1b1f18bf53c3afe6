import { createHash, randomBytes, type Hash } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';

/**
 * Hash-checked transfers. A visitor says in its first line what it will do and what it wants:
 * `<bytes up> <bytes down> <slow>\n`. The target reads all up to EOF, then answers the digest it computed and `bytes down` bytes of a
 * stream that both sides can compute, so that each side asserts what the other one saw.
 */
export interface Transfer {
  readonly up: number;
  readonly down: number;
  /** Who reads slowly (a pause after each chunk). */
  readonly slow?: 'visitor' | 'target';
  /** The target answers while it is still reading instead of after the visitor's half close. */
  readonly duplex?: boolean;
}

const BLOCK = randomBytes(256 * 1024);

/** `length` bytes that both sides know, in blocks, written with back-pressure. */
async function writePattern(socket: net.Socket, length: number, hash: Hash): Promise<void> {
  for (let left = length; left > 0;) {
    const chunk = BLOCK.subarray(0, Math.min(left, BLOCK.length));
    hash.update(chunk);
    left -= chunk.length;
    if (!socket.write(chunk)) await once(socket, 'drain');
  }
}

async function readAll(socket: net.Socket, hash: Hash, slow: boolean, head: (line: string) => void): Promise<number> {
  let bytes = 0;
  let line: Buffer | undefined = Buffer.alloc(0);
  for await (const data of socket.iterator({ destroyOnReturn: false })) {
    let chunk: Buffer = data;
    if (line) {
      line = Buffer.concat([line, chunk]);
      const end = line.indexOf(10);
      if (end < 0) continue;
      head(line.subarray(0, end).toString());
      chunk = line.subarray(end + 1);
      line = undefined;
    }
    bytes += chunk.length;
    hash.update(chunk);
    if (slow) await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  }
  return bytes;
}

/** A target that takes transfers. */
export async function transferTarget(host = '127.0.0.1'): Promise<{ port: number; close: () => void; failures: Error[] }> {
  const failures: Error[] = [];
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', (error) => failures.push(error));
    serve(socket).catch((error: Error) => failures.push(error));
  });
  async function serve(socket: net.Socket): Promise<void> {
    const upHash = createHash('sha256');
    const down = createHash('sha256');
    let wanted = 0;
    let early = Promise.resolve();
    let slow = false;
    // The request line decides whether the answer comes during or after the upload.
    const first: Buffer = await new Promise((resolve) =>
      socket.once('data', (chunk) => {
        socket.pause();
        resolve(chunk);
      })
    );
    socket.unshift(first);
    const head = first.toString('latin1').split('\n')[0]?.split(' ') ?? [];
    wanted = Number(head[1]);
    slow = head[2] === 'target';
    if (head[3] === 'duplex') early = writePattern(socket, wanted, down);
    const bytes = await readAll(socket, upHash, slow, () => {});
    await early;
    if (head[3] !== 'duplex') await writePattern(socket, wanted, down);
    socket.end(`\n${bytes} ${upHash.digest('hex')} ${down.digest('hex')}`);
  }
  server.listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no address');
  return { port: address.port, close: () => server.close(), failures };
}

/** Runs one transfer through a port and throws when a byte is missing or different on either side. */
export async function transfer(port: number, { up, down, slow, duplex }: Transfer, host = '127.0.0.1'): Promise<void> {
  const socket = net.connect({ port, host, allowHalfOpen: true });
  await once(socket, 'connect');
  const failed = once(socket, 'error').then(([error]) => {
    throw error;
  });
  const upHash = createHash('sha256');
  const work = async (): Promise<void> => {
    socket.write(`${up} ${down} ${slow ?? 'none'} ${duplex ? 'duplex' : 'turns'}\n`);
    const chunks: Buffer[] = [];
    const reading = (async () => {
      for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
        chunks.push(chunk);
        if (slow === 'visitor') await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      }
    })();
    await writePattern(socket, up, upHash);
    socket.end();
    await reading;
    const all = Buffer.concat(chunks);
    const [bytes, upDigest, downDigest] = all.subarray(down + 1).toString('latin1').split(' ');
    const seen = createHash('sha256').update(all.subarray(0, down)).digest('hex');
    if (Number(bytes) !== up) throw new Error(`the target saw ${bytes} of ${up} bytes`);
    if (upDigest !== upHash.digest('hex')) throw new Error('the target saw other bytes than were sent');
    if (downDigest !== seen) throw new Error('the visitor saw other bytes than were sent');
  };
  await Promise.race([work(), failed]);
}

/** The standard load: 1 byte to `largest`, both directions, half closes, slow readers. */
export function standardTransfers(largest: number): Transfer[] {
  const sizes = [1, 100, 65_536, 65_537, 600_000, largest];
  return sizes.flatMap((size): Transfer[] => [
    { up: size, down: 0 },
    { up: 0, down: size },
    { up: size, down: size, duplex: true },
    { up: size, down: size },
    { up: size, down: 1, slow: 'target' },
    { up: 1, down: size, slow: 'visitor' },
  ]);
}
