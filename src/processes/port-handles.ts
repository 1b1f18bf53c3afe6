import net from 'node:net';
import { getSystemErrorName } from 'node:util';

/** A bound port that nobody has to listen on. */
interface Bound {
  readonly handle: { close(): void };
  /** The processes that listen on it. */
  readonly processes: Set<number>;
}

/** Where a listener of a process is. */
export interface PortPlace {
  readonly purpose: string;
  /** An IP address; "" = all. */
  readonly host: string;
  /** 0 = any free one, the same for all processes. */
  readonly port: number;
}

/**
 * The ports that the server processes listen on together. This process binds them, and accepts no connection: a process gets a duplicate of the socket, so the kernel has one queue of
 * connections for all of them.
 */
export class PortHandles {
  readonly #bound = new Map<string, Bound>();
  readonly #ofOneProcess: ReadonlySet<number>;

  /** @param ofOneProcess ports that one process each opens itself: a tunnel must not take them while that process is started again */
  constructor(ofOneProcess: readonly number[] = []) {
    this.#ofOneProcess = new Set(ofOneProcess);
  }

  /** A process wants to listen. @returns the handle to send to it, or the name of the system's error */
  share(process: number, place: PortPlace): { readonly handle: object } | { readonly problem: string } {
    if (this.#ofOneProcess.has(place.port)) return { problem: 'EADDRINUSE' };
    const key = keyOf(place);
    let bound = this.#bound.get(key);
    if (!bound) {
      const handle = bind(place);
      if (typeof handle === 'string') return { problem: handle };
      bound = { handle, processes: new Set() };
      this.#bound.set(key, bound);
    }
    // A second listener of one process is as for any program.
    if (bound.processes.has(process)) return { problem: 'EADDRINUSE' };
    bound.processes.add(process);
    return bound;
  }

  /** A process no longer listens. The last one frees the port. */
  unshare(process: number, place: PortPlace): void {
    this.#leave(process, keyOf(place));
  }

  /** A process has ended. */
  ended(process: number): void {
    for (const key of this.#bound.keys()) this.#leave(process, key);
  }

  #leave(process: number, key: string): void {
    const bound = this.#bound.get(key);
    if (!bound?.processes.delete(process) || bound.processes.size > 0) return;
    bound.handle.close();
    this.#bound.delete(key);
  }
}

function keyOf({ purpose, host, port }: PortPlace): string {
  return `${purpose} ${host} ${port}`;
}

/**
 * Binds without listening. Node's own `cluster` does it in this way; but it leaks the handle of each port that another program uses, and cannot tell a tunnel's listener from the API's.
 * @returns the handle, or the name of the system's error
 */
function bind({ host, port }: PortPlace): Bound['handle'] | string {
  const create: unknown = Reflect.get(net, '_createServerHandle');
  if (typeof create !== 'function') throw new Error('this Node binds ports in an unknown way: set ADIT_PROCESSES to 1');
  const made: unknown = Reflect.apply(create, net, [host === '' ? null : host, port, net.isIPv6(host) ? 6 : 4, undefined, 0]);
  if (typeof made === 'number') return getSystemErrorName(made);
  if (!isBound(made)) throw new Error('this Node binds ports in an unknown way: set ADIT_PROCESSES to 1');
  const name: { readonly port?: number } = {};
  const problem = made.getsockname(name);
  if (problem === 0 && (port === 0 || name.port === port)) return made;
  // The system says only to a listener that the port is occupied, and leaves the socket unbound.
  made.close();
  return problem === 0 ? 'EADDRINUSE' : getSystemErrorName(problem);
}

function isBound(made: unknown): made is { close(): void; getsockname(out: object): number } {
  return typeof made === 'object' && made !== null && ['close', 'getsockname'].every((name) => typeof Reflect.get(made, name) === 'function');
}
