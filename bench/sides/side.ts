import type { Targets } from '../targets.ts';

/** One of the programs that are compared. */
export interface Side {
  readonly name: string;
  /** Programs that it needs beyond Node. */
  readonly programs: readonly string[];
  /** Starts it anew, leading to the targets. */
  start(targets: Targets): Promise<RunningSide>;
}

/** A side at work. */
export interface RunningSide {
  readonly name: string;
  /** Ports of this machine that lead to the targets. */
  readonly ports: Omit<Targets, 'udp'> & Partial<Pick<Targets, 'udp'>>;
  /** Its processes; their descendants count too. */
  readonly pids: readonly number[];
  stop(): Promise<void>;
}
