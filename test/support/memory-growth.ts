import { readFileSync } from 'node:fs';
import type { Child } from './child.ts';

/** How often memory is looked at, in ms. */
const LOOK_MS = 100;

/** The most by which each program's memory (VmRSS) grew while `work` ran, in bytes. */
export async function memoryGrowth(programs: readonly Child[], work: () => Promise<void>): Promise<number[]> {
  const before = programs.map(residentBytes);
  const most = [...before];
  const look = (): void =>
    programs.forEach((program, index) => {
      most[index] = Math.max(most[index] ?? 0, residentBytes(program));
    });
  const looking = setInterval(look, LOOK_MS);
  try {
    await work();
    look();
  } finally {
    clearInterval(looking);
  }
  return most.map((bytes, index) => bytes - (before[index] ?? 0));
}

function residentBytes({ pid }: Child): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}
