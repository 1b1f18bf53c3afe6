import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Ticks per second of the times in /proc. */
export const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** Where {@link cpuSeconds} has its figures from on this machine, for the report. */
export const cpuSource = existsSync('/proc/self/schedstat')
  ? "the scheduler's nanoseconds of every thread (/proc/PID/task/TID/schedstat)"
  : `steps of ${1000 / ticksPerSecond} ms (/proc/PID/stat): this kernel has no schedstat`;

/** The processes and all their descendants, by /proc. */
function processTree(roots: readonly number[]): number[] {
  const children = new Map<number, number[]>();
  for (const entry of numbersIn('/proc')) {
    const parent = fields(entry)?.[1];
    if (parent !== undefined) children.set(Number(parent), [...children.get(Number(parent)) ?? [], entry]);
  }
  const tree = [...roots];
  for (const pid of tree) tree.push(...children.get(pid) ?? []);
  return tree;
}

/**
 * Seconds of processor time that the processes and their descendants have used, interrupts that were served meanwhile included.
 *
 * The scheduler's time of each thread is exact, but goes with the thread; the process's time in /proc/PID/stat keeps what ended threads used, in ticks that
 * are rounded down. It is read first, so that it is the larger of the two only when threads have ended: then it counts, up to two ticks too low.
 */
export function cpuSeconds(roots: readonly number[]): number {
  return processTree(roots).reduce((sum, pid) => {
    const stat = fields(pid);
    if (stat === undefined) return sum;
    // utime, stime, and those of children that have ended
    const [user = 0, system = 0, childUser = 0, childSystem = 0] = stat.slice(11, 15).map(Number);
    return sum + (childUser + childSystem) / ticksPerSecond + Math.max((user + system) / ticksPerSecond, threadSeconds(pid));
  }, 0);
}

/**
 * Starts to count the processor time of processes and their descendants.
 * @returns gives it for each of so many units, in seconds; NaN when there were no units, or no processes
 */
export function cpuMeter(roots: readonly number[]): (units: number) => number {
  const before = cpuSeconds(roots);
  return (units) => roots.length === 0 || units === 0 ? NaN : (cpuSeconds(roots) - before) / units;
}

/** Seconds of processor time that the ended children of a process have used, in ticks. */
export function childSeconds(pid: number): number {
  const [user = 0, system = 0] = fields(pid)?.slice(13, 15).map(Number) ?? [];
  return (user + system) / ticksPerSecond;
}

/** Seconds of processor time that a process's main thread has used; 0 where the kernel does not say. */
export function mainThreadSeconds(pid: number): number {
  return secondsOf(pid, pid);
}

/** Bytes of memory that the processes and their descendants hold (VmRSS). */
export function residentBytes(roots: readonly number[]): number {
  return processTree(roots).reduce((sum, pid) => sum + residentOf(pid), 0);
}

function residentOf(pid: number): number {
  const text = read(`/proc/${pid}/status`) ?? '';
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) * 1024;
}

/** What the living threads of a process have used, in seconds; 0 where the kernel does not say. */
function threadSeconds(pid: number): number {
  return numbersIn(`/proc/${pid}/task`).reduce((sum, thread) => sum + secondsOf(pid, thread), 0);
}

function secondsOf(pid: number, thread: number): number {
  // The first figure is the time on a processor, in ns.
  return Number(read(`/proc/${pid}/task/${thread}/schedstat`)?.split(' ', 1)[0] ?? 0) / 1e9;
}

/** The fields of /proc/PID/stat after the program's name; undefined = the process is gone. */
function fields(pid: number): string[] | undefined {
  const text = read(`/proc/${pid}/stat`);
  return text?.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** The entries of a directory of /proc that are numbers; none when it is gone. */
function numbersIn(directory: string): number[] {
  try {
    return readdirSync(directory).filter((entry) => /^\d+$/.test(entry)).map(Number);
  } catch {
    return [];
  }
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined; // the process ended between the listing and the look
  }
}
