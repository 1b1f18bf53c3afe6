import process from 'node:process';
import { expect, test } from '@jest/globals';
import { capturedBackend } from '../../src/wire/captured-backend.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import { onreadBackend } from '../../src/wire/onread-socket.ts';
import { eventually } from '../support/eventually.ts';
import { expectIntact, runOn, standardStreams, startPartner, type Seen } from '../support/streams.ts';
import { visit } from '../support/target.ts';
import { CLIENT, openTunnel, startAgent, startEngine, type TestEngine } from '../support/tunnel.ts';

/** The longest stream; the long run sets it to 67108864. */
const LONGEST = Number(process.env['ADIT_TEST_STREAM_BYTES'] ?? 1_500_000);
const STREAMS = standardStreams(LONGEST);

/** Rates in bytes a second that follow each other while bytes flow; 0 = unlimited. */
const CHANGING = [8_000_000, 0, 30_000_000, 4_000_000, 0, 12_000_000];

async function changeRates({ engine }: TestEngine, signal: AbortSignal): Promise<void> {
  for (let n = 0; !signal.aborted; n++) {
    await engine.apply({ kind: 'client', client: { ...CLIENT, rateLimit: CHANGING[n % CHANGING.length] ?? 0 } });
    await new Promise((resolve) => {
      setTimeout(resolve, 70);
    });
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
  const seenByTarget: Seen = new Map();
  const { port, id } = await openTunnel(server, { targets: [(await startPartner(seenByTarget)).address] });
  expect(STREAMS).toHaveLength(36);
  const over = new AbortController();
  const changing = limited ? changeRates(server, over.signal) : undefined;

  const results = await Promise.all(STREAMS.map(async (stream) => runOn(await visit(port), stream)));
  // A slow target may still be reading what the kernel holds for it.
  await eventually(() => seenByTarget.size, (size) => size === STREAMS.filter(({ kind }) => kind !== 'download').length);
  await eventually(() => server.engine.tunnelState(id)?.connections, (open) => open === 0);
  over.abort();
  await changing;

  for (const [index, stream] of STREAMS.entries()) expectIntact(stream, results[index] ?? { bytes: 0, hash: '' }, seenByTarget);
}, Math.max(20_000, LONGEST / 1000));
