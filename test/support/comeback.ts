import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import pino from 'pino';
import { z } from 'zod';
import { openStore } from '../../src/store/store.ts';
import { Child, endChildren } from './child.ts';
import { startServer } from './processes.ts';
import { scratchDirectory } from './scratch.ts';
import { seedClients } from './seed.ts';

const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const crowd = fileURLToPath(new URL('agent-crowd.ts', import.meta.url));
const monitor = new URL('hold-monitor.mjs', import.meta.url).href;

const line = z.object({ agent: z.int(), at: z.number(), event: z.enum(['connected', 'disconnected']), reason: z.string(), retryMs: z.number() });

/** What a crowd of agents has to do. */
export interface ComebackOptions {
  readonly agents: number;
  /** They are shared out among so many processes. */
  readonly processes: number;
  /** How long the server is away, in ms. */
  readonly outageMs: number;
  readonly tls?: boolean;
  /** `postgresql://...`; absent = SQLite */
  readonly databaseUrl?: string;
}

/** How it came back. Times in ms since the server answered. */
export interface Comeback {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** The longest time of its own that the server's event loop was held since it answers: 2 ms too much at most. */
  readonly longestHold: number;
  /** Attempts that the server sent away. */
  readonly sentAway: number;
}

/** Kills a server with a crowd of agents, all from one address, starts it again, and sees when they are back. */
export async function measureComeback({ agents, processes, outageMs, tls = false, databaseUrl = '' }: ComebackOptions): Promise<Comeback> {
  const dataDir = scratchDirectory();
  const store = await openStore({ url: databaseUrl, dataDir, log: pino({ level: 'silent' }) });
  await seedClients(store, agents);
  await store.close();
  const holdFile = path.join(dataDir, 'hold');
  const environment = {
    NODE_OPTIONS: `--import ${monitor}`,
    HOLD_FILE: holdFile,
    ADIT_LOG_LEVEL: 'warn',
    ...(databaseUrl && { ADIT_DATABASE_URL: databaseUrl }),
  };
  const server = await startServer({ dataDir, environment });
  const { bridgePort, tlsPort, httpPort, fingerprint } = server;
  const share = Math.ceil(agents / processes);
  const crowds = Array.from({ length: processes }, (_, index) =>
    new Child(process.execPath, [
      '--import',
      tsx,
      crowd,
      String(tls ? tlsPort : bridgePort),
      String(index * share + 1),
      String(Math.min(share, agents - index * share)),
      ...(tls ? [fingerprint] : []),
    ]));
  const events = (from = 0) =>
    crowds.flatMap(({ output }) => output.split('\n').slice(0, -1).map((text) => line.parse(JSON.parse(text)))).filter(({ at }) => at >= from);
  /** When each agent connected for the first time since then. */
  const back = (since: number) => new Map(events(since).filter(({ event }) => event === 'connected').toReversed().map(({ agent, at }) => [agent, at]));
  const all = async (since: number) => {
    while (back(since).size < agents) await delay(50);
  };
  try {
    await all(0);
    await server.child.end();
    await delay(outageMs);
    // Not since it answered us: on a busy machine, agents may connect before this process sees that.
    const restarted = Date.now();
    const starting = startServer({ dataDir, environment, httpPort, bridgePort, tlsPort });
    const failed = new AbortController();
    starting.catch(() => failed.abort());
    const [again, from] = await Promise.all([starting, answers(tls ? tlsPort : bridgePort, failed.signal)]);
    await all(restarted);
    const times = [...back(restarted).values()].map((at) => Math.max(0, at - from)).toSorted((one, other) => one - other);
    again.child.kill('SIGUSR2');
    const at = (share: number) => times[Math.min(times.length - 1, Math.ceil(times.length * share) - 1)] ?? 0;
    return {
      p50: at(0.5),
      p99: at(0.99),
      max: times.at(-1) ?? 0,
      longestHold: longest(await holdsIn(holdFile), from),
      sentAway: events(from).filter(({ reason }) => reason.startsWith('refused')).length,
    };
  } finally {
    await endChildren();
  }
}

/** Waits until a port answers. @returns when it did, in ms since the epoch */
async function answers(port: number, signal: AbortSignal): Promise<number> {
  for (;;) {
    signal.throwIfAborted();
    const socket = net.connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return Date.now();
    } catch {
      await delay(10); // not yet
    } finally {
      socket.destroy();
    }
  }
}

/** Until when the loop was held, in ms since the epoch, and for how long. */
async function holdsIn(file: string): Promise<[number, number][]> {
  while (!existsSync(file) || !readFileSync(file, 'utf8').endsWith('\n')) await delay(20);
  return z.array(z.tuple([z.number(), z.number()])).parse(JSON.parse(readFileSync(file, 'utf8')));
}

function longest(holds: readonly [number, number][], from: number): number {
  return Math.max(0, ...holds.map(([until, ms]) => Math.min(ms, until - from)));
}
