import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import type { Child } from './child.ts';

/** Settings of a program under test that `resources` can ask. */
export const observed = { NODE_OPTIONS: `--import ${pathToFileURL(path.join(import.meta.dirname, 'probe.mjs')).href}` } as const;

/** How many file descriptors a program has open. Linux only. */
export function descriptors({ pid }: Child): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Bytes of memory that a program holds. Linux only. */
export function residentBytes({ pid }: Child): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

/** Has a program that was started as `observed` collect its garbage, and give the memory back. @returns bytes of its JavaScript heap that are in use then */
export async function collected(child: Child): Promise<number> {
  const from = child.output.length;
  child.kill('SIGHUP');
  return Number((await child.says(/collected (\d+)\n/, from))[1]);
}

/** What keeps the event loop of a program alive that was started as `observed`: how many of each kind (TCPSocketWrap, Timeout...). */
export async function resources(child: Child): Promise<Readonly<Record<string, number>>> {
  const from = child.output.length;
  child.kill('SIGUSR2');
  const [, json = ''] = await child.says(/resources (\{.*\})\n/, from);
  return z.record(z.string(), z.number()).parse(JSON.parse(json));
}
