import { writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { Child } from '../child.ts';
import { hashOf, payload } from '../payload.ts';
import { scratchDirectory } from '../scratch.ts';

/** How long the targets are frozen: less than a datagram is sent again (datagrams.ts), and than any transfer may take. */
const FROZEN_MS = 6000;

/** A file that is served. */
export interface ServedFile {
  readonly name: string;
  readonly content: Buffer;
  readonly hash: string;
}

/** Everything that the tunnels and hosts of a soak lead to; gone when the test is done. */
export interface Targets {
  /** host:port of what sends back what it gets. */
  readonly tcp: string;
  readonly udp: string;
  /** Sends back the body of every request, and every message of a WebSocket. */
  readonly http: string;
  readonly directory: string;
  readonly files: readonly ServedFile[];
  /** They are silent for a while: the system still accepts connections and bytes for them. @param meanwhile done as soon as they are silent */
  freeze(meanwhile: () => Promise<void>): Promise<void>;
}

const ports = z.object({ tcp: z.int(), udp: z.int(), http: z.int() });

/** Starts all of them on this machine. */
export async function startTargets(): Promise<Targets> {
  const directory = scratchDirectory();
  const files = [1000, 50_000, 1_500_000].map((bytes, seed): ServedFile => {
    const file = { name: `${bytes}.bin`, content: Buffer.concat([...payload(bytes, seed)]), hash: hashOf(bytes, seed) };
    writeFileSync(path.join(directory, file.name), file.content);
    return file;
  });
  const child = new Child(process.execPath, [path.join(import.meta.dirname, 'echoes.mjs')]);
  const { tcp, udp, http } = ports.parse(JSON.parse((await child.says(/.+\n/))[0]));
  const freeze = async (meanwhile: () => Promise<void>) => {
    child.kill('SIGSTOP');
    await Promise.all([meanwhile(), delay(FROZEN_MS)]);
    child.kill('SIGCONT');
  };
  return { tcp: `127.0.0.1:${tcp}`, udp: `127.0.0.1:${udp}`, http: `127.0.0.1:${http}`, directory, files, freeze };
}
