import { accessSync, constants, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';

/** The CPU controller of cgroup v1. */
const CONTROLLER = '/sys/fs/cgroup/cpu';
/** Short, so that a process that has used its part of a period waits for some milliseconds only, and resembles one on a slower processor. */
const PERIOD_US = 10_000;
/** The weight of a share beside other programs, which have 1,024 each: a process gets its share however busy the machine is. */
const WEIGHT = 65_536;

/** Why processes can't get shares on this machine; undefined = they can. Only root can give them, and cgroup v2 is not supported. */
export function missingCpuShares(): string | undefined {
  try {
    accessSync(path.join(CONTROLLER, 'cpu.cfs_quota_us'), constants.W_OK);
    return undefined;
  } catch {
    return `${CONTROLLER} (cgroup v1) is missing or not writable`;
  }
}

/** A part of a core for some processes and those that they start: not less, even if the machine is busy, and not more, even if it is idle. */
export class CpuShare {
  readonly #directory: string;
  readonly #cores: number;

  /** @param cores such as 0.15 */
  constructor(name: string, cores: number) {
    this.#directory = path.join(CONTROLLER, `adit-bench-${process.pid}-${name}`);
    this.#cores = cores;
    mkdirSync(this.#directory);
    this.#set('cpu.shares', WEIGHT);
  }

  /** Gives the share to a process. */
  add(pid: number): void {
    this.#set('cgroup.procs', pid);
  }

  /** Until then, its processes may use more than the share: they start, and V8 compiles them. */
  limit(): void {
    this.#set('cpu.cfs_period_us', PERIOD_US);
    this.#set('cpu.cfs_quota_us', PERIOD_US * this.#cores);
  }

  #set(file: string, value: number): void {
    writeFileSync(path.join(this.#directory, file), String(value));
  }

  /** Its processes that still run have no share any more. */
  end(): void {
    const pids = readFileSync(path.join(this.#directory, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean);
    for (const pid of pids) writeFileSync(path.join(CONTROLLER, 'cgroup.procs'), pid);
    rmdirSync(this.#directory);
  }
}
