import type { Program } from '../../test/support/debian-packages.ts';
import type { Targets } from '../targets.ts';

/**
 * By which way a side leads to a target: a port for it alone, or the host `localhost` over HTTP or HTTPS; to the HTTP target also over TLS between
 * server and agent, through a secret tunnel's visitor, or through a proxy that is asked for it; of several servers, at the one that the agent is connected to, or at another one, with links over TLS or in the clear; of a server with one process, or with two.
 */
export type Way =
  | keyof Targets
  | 'hosts'
  | 'secureHosts'
  | 'tls'
  | 'secret'
  | 'socks5'
  | 'httpProxy'
  | 'sameServer'
  | 'otherServer'
  | 'otherServerPlain'
  | 'oneProcess'
  | 'twoProcesses';

/** One of the programs that are compared. */
export interface Side {
  readonly name: string;
  /** Programs that it needs beyond Node. */
  readonly programs: readonly Program[];
  /** Why it can't be measured here, if so. */
  readonly missing?: string;
  /** Starts a new instance, leading to the targets. */
  start(targets: Targets): Promise<RunningSide>;
}

/** A side at work. */
export interface RunningSide {
  readonly name: string;
  /** Ports of this machine that lead to the targets, as far as it has such. */
  readonly ports: Readonly<Partial<Record<Way, number>>>;
  /** Its processes; their descendants count too. */
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

/** The port of a side that has it. @throws when it has none: the work is not for it */
export function portOf({ name, ports }: RunningSide, way: Way): number {
  const port = ports[way];
  if (port === undefined) throw new Error(`${name} has no port for ${way}`);
  return port;
}
