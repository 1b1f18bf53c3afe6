import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** Ticks per second of the times in /proc. */
export const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** The processes and all their descendants, by /proc. */
export function processTree(roots: readonly number[]): number[] {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync('/proc')) {
    const parent = /^\d+$/.test(entry) ? fields(Number(entry))?.[1] : undefined;
    if (parent !== undefined) children.set(Number(parent), [...children.get(Number(parent)) ?? [], Number(entry)]);
  }
  const tree = [...roots];
  for (const pid of tree) tree.push(...children.get(pid) ?? []);
  return tree;
}

/** Seconds of processor time, user and system, that the processes and their descendants have used. */
export function cpuSeconds(roots: readonly number[]): number {
  const ticks = processTree(roots).map((pid) => {
    const stat = fields(pid);
    // utime, stime, and those of children that have ended
    return stat ? stat.slice(11, 15).reduce((sum, text) => sum + Number(text), 0) : 0;
  });
  return ticks.reduce((sum, each) => sum + each, 0) / ticksPerSecond;
}

/** Bytes of memory that the processes and their descendants hold (VmRSS). */
export function residentBytes(roots: readonly number[]): number {
  return processTree(roots).reduce((sum, pid) => sum + residentOf(pid), 0);
}

function residentOf(pid: number): number {
  const text = read(`/proc/${pid}/status`) ?? '';
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) * 1024;
}

/** The fields of /proc/PID/stat after the program's name; undefined = the process is gone. */
function fields(pid: number): string[] | undefined {
  const text = read(`/proc/${pid}/stat`);
  return text?.slice(text.lastIndexOf(')') + 2).split(' ');
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined; // the process ended between the listing and the look
  }
}
