import type net from 'node:net';
import { describe, expect, test } from '@jest/globals';
import type { Child } from '../support/child.ts';
import { sized } from '../support/endurance.ts';
import { residentBytes } from '../support/observe.ts';
import { serve } from '../support/served.ts';
import { startTarget, visit } from '../support/target.ts';

// Short form: test/engine/back-pressure.test.ts

const SECONDS = sized(5, 60);
const OFFERED = 1e9;
const PER_SECOND = 1024 * 1024;
const MOST_GROWTH = 64 * 1024 * 1024;

describe(`1 GB offered to a reader that takes 1 MB/s, for ${SECONDS} s, grows neither process by more than 64 MB`, () => {
  const limit = (SECONDS + 300) * 1000;

  test('when the visitor reads', async () => {
    const target = await startTarget(offer);
    const { programs, memory, tunnel } = await start(target.address);
    const { bytes, growth } = await readSlowly(await visit(tunnel.port), programs, memory);
    expect(bytes).toBeGreaterThan(0.9 * SECONDS * PER_SECOND);
    expect(growth).toBeLessThan(MOST_GROWTH);
  }, limit);

  test('when the target reads', async () => {
    const target = await startTarget();
    const { programs, memory, tunnel } = await start(target.address);
    const accepted = target.accepted();
    offer(await visit(tunnel.port));
    const { bytes, growth } = await readSlowly(await accepted, programs, memory);
    expect(bytes).toBeGreaterThan(0.9 * SECONDS * PER_SECOND);
    expect(growth).toBeLessThan(MOST_GROWTH);
  }, limit);
});

async function start(target: string) {
  const { server, agent, tunnel } = await serve(target);
  const programs = [server.child, agent];
  return { tunnel, programs, memory: programs.map(residentBytes) };
}

/** Writes as much as the other end takes, up to 1 GB; the connection may be cut at any time. */
function offer(socket: net.Socket): void {
  const block = Buffer.alloc(256 * 1024, 'x');
  let sent = 0;
  const more = (): void => {
    while (sent < OFFERED && socket.write(block)) sent += block.length;
    sent += block.length;
  };
  socket.on('drain', more);
  more();
}

/** Reads 1 MB/s, looking at the programs' memory now and then. @returns bytes read and by how many that one has grown that grew most */
async function readSlowly(socket: net.Socket, programs: readonly Child[], before: readonly number[]) {
  const start = performance.now();
  let bytes = 0;
  let growth = 0;
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    bytes += Buffer.isBuffer(chunk) ? chunk.length : 0;
    const due = start + bytes / PER_SECOND * 1000;
    if (due > start + SECONDS * 1000) break;
    await new Promise((resolve) => {
      setTimeout(resolve, due - performance.now());
    });
    growth = Math.max(growth, ...programs.map((program, index) => residentBytes(program) - (before[index] ?? 0)));
  }
  return { bytes, growth };
}
