import { encodeOpen, type OpenRequest } from '../../wire/open.ts';

/** The targets of a tunnel, each going first in its turn: the agent tries them in the order given. */
export class TargetTurns {
  /** One ready payload of OPEN for each target that goes first. */
  readonly #payloads: readonly Buffer[];
  #next = 0;

  /** @param request what is asked of the agent, but for the targets */
  constructor(request: Omit<OpenRequest<'tcp'>, 'targets'> | Omit<OpenRequest<'udp'>, 'targets'> | Omit<OpenRequest<'dial'>, 'targets'>, targets: readonly string[]) {
    this.#payloads = targets.map((_, first) => encodeOpen({ ...request, targets: [...targets.slice(first), ...targets.slice(0, first)] }));
  }

  /** The payload for the next connection; undefined = there are no targets. */
  get next(): Buffer | undefined {
    return this.#payloads[this.#next];
  }

  /** It was used: the next target goes first. */
  advance(): void {
    this.#next = (this.#next + 1) % this.#payloads.length;
  }
}
