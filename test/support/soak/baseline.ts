import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Child } from '../child.ts';
import { eventuallyAsync } from '../eventually.ts';
import { collected, descriptors, residentBytes, resources } from '../observe.ts';
import { metrics, type ServerProcess } from '../processes.ts';
import { settled } from '../settled.ts';

/** What a program holds when nothing is going on. */
export interface Held {
  /** Without its connections between server and agents: how many idle ones there are depends on what went on. */
  readonly descriptors: number;
  /** What its event loop has: timers, sockets without those connections. */
  readonly resources: Readonly<Record<string, number>>;
  /** Connections between server and agents: sessions, and data connections, of which 256 a session are allowed. */
  readonly bridgeConnections: number;
  /** Bytes, after the garbage was collected: resident, and of the JavaScript heap, which alone is free of what allocators keep for later. */
  readonly rss: number;
  readonly heap: number;
}

/** Waits until nobody is connected with a tunnel or host any more. */
export async function quiet(server: ServerProcess): Promise<void> {
  const busy = async () => Array.from((await metrics(server)).matchAll(/^adit_(?:visitors|host_connections|handshakes) [1-9]\d*$/gm), ([line]) => line);
  await eventuallyAsync(busy, (lines) => lines.length === 0, 30_000);
}

/** What a program holds now. Linux only. */
export async function held(child: Child, bridgePorts: readonly number[]): Promise<Held> {
  await settled(() => descriptors(child));
  const memory = await leastMemory(child);
  // A connection between server and agent that comes or goes between two of the looks would be taken for one that is held.
  const look = async () => {
    const bridgeConnections = connectionsTo(child, bridgePorts);
    const seen = { bridgeConnections, resources: await resources(child), descriptors: descriptors(child) };
    return { ...seen, steady: connectionsTo(child, bridgePorts) === bridgeConnections };
  };
  const { bridgeConnections, resources: { TCPSocketWrap = 0, TCPWRAP = 0, ...others }, descriptors: all } = await eventuallyAsync(look, ({ steady }) => steady);
  return {
    descriptors: all - bridgeConnections,
    bridgeConnections,
    ...memory,
    resources: { ...others, sockets: TCPSocketWrap + TCPWRAP - bridgeConnections },
  };
}

/** What it holds when one more collection gives back less than a hundredth: V8 does so bit by bit. */
async function leastMemory(child: Child): Promise<Pick<Held, 'rss' | 'heap'>> {
  for (let before = Infinity;;) {
    const heap = await collected(child);
    const rss = await settled(() => residentBytes(child));
    if (rss > before * 0.99) return { rss, heap };
    before = rss;
  }
}

/** Connections of a program with one of these ports at either end. */
function connectionsTo({ pid }: Child, ports: readonly number[]): number {
  const inodes = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => /socket:\[(\d+)\]/.exec(linkOf(`/proc/${pid}/fd/${fd}`))?.[1] ?? ''));
  const ends = ports.map((port) => `:${port.toString(16).toUpperCase().padStart(4, '0')}`);
  const lines = ['tcp', 'tcp6'].flatMap((table) => readFileSync(`/proc/${pid}/net/${table}`, 'utf8').split('\n').slice(1));
  return lines.map((line) => line.trim().split(/\s+/)).filter(([, local = '', peer = '', state, , , , , , inode = '']) =>
    state !== '0A' && inodes.has(inode) && ends.some((end) => local.endsWith(end) || peer.endsWith(end))
  ).length;
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ''; // closed meanwhile
  }
}
