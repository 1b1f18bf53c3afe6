import { once } from 'node:events';
import type net from 'node:net';
import process from 'node:process';
import { expect, test } from '@jest/globals';
import { capturedBackend } from '../../src/wire/captured-backend.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import { onreadBackend } from '../../src/wire/onread-socket.ts';
import { eventually } from '../support/eventually.ts';
import { hashOf, receive, sendPayload } from '../support/payload.ts';
import { startTarget, visit } from '../support/target.ts';
import { CLIENT, openTunnel, startAgent, startEngine, type TestEngine } from '../support/tunnel.ts';

/** The longest stream; the long run sets it to 67108864. */
const LONGEST = Number(process.env['ADIT_TEST_STREAM_BYTES'] ?? 1_500_000);
const SIZES = [1, 1000, 65_536, 300_000, 700_000, LONGEST];
const KINDS = ['download', 'upload', 'both'] as const;
type Kind = (typeof KINDS)[number];

const STREAMS = SIZES.flatMap((bytes) => KINDS.flatMap((kind) => [false, true].map((slow) => ({ bytes, kind, slow }))))
  .map((stream, seed) => ({ ...stream, seed: seed + 1 }));

const HEAD_BYTES = 40;

/** What the visitor wants, in its first bytes. */
async function readHead(socket: net.Socket): Promise<string> {
  for (;;) {
    await once(socket, 'readable');
    const head: Buffer | null = socket.read(HEAD_BYTES);
    if (head) return head.toString('latin1').trim();
  }
}

/** A target that sends, checks, or does both at once, as the visitor asks; its own findings go to `seen`. */
function startPartner(seen: Map<number, string>) {
  return startTarget(async (socket) => {
    const [kind, bytes, seed, slow] = (await readHead(socket)).split(' ');
    const receiving = kind === 'download' ? socket.resume() : receive(socket, slow === 'true');
    if (kind !== 'upload') await sendPayload(socket, Number(bytes), Number(seed));
    const received = await receiving;
    if ('hash' in received) seen.set(Number(seed), received.hash);
    socket.end();
  });
}

async function run(port: number, { bytes, kind, slow, seed }: { bytes: number; kind: Kind; slow: boolean; seed: number }) {
  const socket = await visit(port);
  socket.write(`${kind} ${bytes} ${seed} ${slow}`.padEnd(HEAD_BYTES));
  const sending = kind === 'download' ? Promise.resolve() : sendPayload(socket, bytes, seed);
  const received = await receive(socket, slow);
  await sending;
  socket.end();
  await once(socket, 'close');
  return received;
}

/** Rates in bytes a second that follow each other while bytes flow; 0 = unlimited. */
const CHANGING = [8_000_000, 0, 30_000_000, 4_000_000, 0, 12_000_000];

async function changeRates({ engine }: TestEngine, signal: AbortSignal): Promise<void> {
  for (let n = 0; !signal.aborted; n++) {
    await engine.apply({ kind: 'client', client: { ...CLIENT, rateLimit: CHANGING[n % CHANGING.length] ?? 0 } });
    await new Promise((resolve) => { setTimeout(resolve, 70); });
  }
}

test.each([
  ['by net', netBackend, false],
  ['by onread', onreadBackend, false],
  ['by captured', await capturedBackend(), false],
  ['by captured, under a rate limit that comes, changes and goes', await capturedBackend(), true],
  ['by onread, under a rate limit that comes, changes and goes', onreadBackend, true],
])(`36 streams at once, 1 byte to ${LONGEST}, both directions, half closes, slow readers: all intact on both sides, %s`, async (_, sockets, limited) => {
  const server = await startEngine({ sockets });
  await startAgent(server, { sockets });
  const seenByTarget = new Map<number, string>();
  const { port, id } = await openTunnel(server, { targets: [(await startPartner(seenByTarget)).address] });
  expect(STREAMS).toHaveLength(36);
  const over = new AbortController();
  const changing = limited ? changeRates(server, over.signal) : undefined;

  const results = await Promise.all(STREAMS.map((stream) => run(port, stream)));
  // A slow target may still be reading what the kernel holds for it.
  await eventually(() => seenByTarget.size, (size) => size === STREAMS.filter(({ kind }) => kind !== 'download').length);
  await eventually(() => server.engine.tunnelState(id)?.connections, (open) => open === 0);
  over.abort();
  await changing;

  STREAMS.forEach(({ bytes, kind, seed }, i) => {
    const expected = hashOf(bytes, seed);
    const received = results[i];
    if (kind !== 'upload') expect({ seed, ...received }).toEqual({ seed, bytes, hash: expected });
    if (kind !== 'download') expect({ seed, hash: seenByTarget.get(seed) }).toEqual({ seed, hash: expected });
  });
}, Math.max(20_000, LONGEST / 1000));
