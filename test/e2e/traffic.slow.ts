import type net from 'node:net';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { databaseFileName } from '../../src/store/sqlite.ts';
import { openDatabase } from '../../src/store/sqlite/binding.ts';
import { sized } from '../support/endurance.ts';
import { startServer, write } from '../support/processes.ts';
import { serve } from '../support/served.ts';
import { startEcho, visit } from '../support/target.ts';

// Short form: test/store/state-saver.test.ts

const CRASHES = sized(1, 5);
/** How long bytes flow before each crash: longer than may be lost. */
const FLOW_MS = sized(6500, 15_000);
/** Counters are stored every 5 s; a second for the writing. */
const LOST_MS = 6000;
const CHUNK = Buffer.alloc(16 * 1024, 'traffic ');

const counters = z.array(z.object({ resource: z.string(), inlet: z.number(), export: z.number() }));

/** What is stored of client, tunnel and user 1: the counters, and the series of each step, all of which are to be the same. */
function stored(dataDir: string): { readonly inlet: number; readonly export: number; readonly all: unknown[] } {
  const database = openDatabase(path.join(dataDir, databaseFileName), { busyMs: 5000 });
  const rows = counters.parse(
    database.prepare(`
    SELECT kind AS resource, "inletBytes" AS inlet, "exportBytes" AS export FROM "Counter" WHERE kind IN ('client', 'tunnel') AND id = 1
    UNION ALL SELECT resource || ' by ' || step, sum("inletBytes"), sum("exportBytes") FROM "TrafficSample" WHERE "resourceId" = 1 GROUP BY resource, step`)
      .all(),
  );
  database.close();
  return { inlet: rows[0]?.inlet ?? 0, export: rows[0]?.export ?? 0, all: rows };
}

/** Sends at a steady pace, and remembers what had come back when. */
class Flow {
  readonly #came: { readonly at: number; readonly bytes: number }[] = [{ at: performance.now(), bytes: 0 }];
  readonly #timer: NodeJS.Timeout;
  sent = 0;
  received = 0;

  constructor(visitor: net.Socket) {
    visitor.on('data', (chunk) => {
      this.received += chunk.length;
      this.#came.push({ at: performance.now(), bytes: this.received });
    });
    this.#timer = setInterval(() => {
      visitor.write(CHUNK);
      this.sent += CHUNK.length;
    }, 20);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Bytes that had come back at a moment, by the monotonic clock. */
  at(moment: number): number {
    return this.#came.findLast(({ at }) => at <= moment)?.bytes ?? 0;
  }
}

test(
  `a server that is killed has counted all that was moved until ${LOST_MS / 1000} s before, for client, tunnel and user, and counts nothing twice`,
  async () => {
    const served = await serve((await startEcho()).address);
    const { dataDir, httpPort, bridgePort, tlsPort } = served.server;
    let { server } = served;
    await write(server, '/user/add/', { username: 'alice', password: 'a password' });
    await write(server, '/client/edit/', { id: served.clientId, user_id: 1 });

    let before = { inlet: 0, export: 0 };
    for (let crash = 0; crash < CRASHES; crash++) {
      const flow = new Flow(await visit(served.tunnel.port));
      await new Promise((resolve) => {
        setTimeout(resolve, FLOW_MS);
      });
      const said = served.agent.output.length;
      const killed = performance.now();
      server.child.kill('SIGKILL');
      await server.child.exited;
      flow.stop();

      const after = stored(dataDir);
      const sure = flow.at(killed - LOST_MS);
      expect(sure).toBeGreaterThan(0);
      // What came back to the visitor had passed the server in both directions.
      for (const direction of ['inlet', 'export'] as const) {
        expect(after[direction] - before[direction]).toBeGreaterThanOrEqual(sure);
        expect(after[direction] - before[direction]).toBeLessThanOrEqual(flow.sent);
      }
      expect(after.all).toEqual(everywhere(after));
      server = await startServer({ dataDir, httpPort, bridgePort, tlsPort });
      await served.agent.says(/connected to/, said);
      before = after;
    }

    const visitor = await visit(served.tunnel.port);
    visitor.write(CHUNK);
    for (let received = 0; received < CHUNK.length;) received += await new Promise<number>((resolve) => visitor.once('data', (chunk) => resolve(chunk.length)));
    visitor.end();
    server.child.kill('SIGTERM');
    await server.child.exited;
    const total = { inlet: before.inlet + CHUNK.length, export: before.export + CHUNK.length };
    expect(stored(dataDir).all).toEqual(everywhere(total));
  },
  300_000,
);

/** The same bytes for everybody they are counted for. */
function everywhere({ inlet, export: exported }: { readonly inlet: number; readonly export: number }): unknown[] {
  const series = ['client', 'tunnel', 'user'].flatMap((resource) => ['day', 'hour', 'minute'].map((step) => `${resource} by ${step}`));
  return ['client', 'tunnel', ...series].map((resource) => ({ resource, inlet, export: exported }));
}
