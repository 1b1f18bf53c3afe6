import { encodeOpen, type OpenRequest } from '../../wire/open.ts';

type TurnRequest = Omit<OpenRequest<'tcp'>, 'targets'> | Omit<OpenRequest<'udp'>, 'targets'> | Omit<OpenRequest<'dial'>, 'targets'>;

/** The targets of a tunnel, each going first in its turn: the agent tries them in the order given. */
export class TargetTurns {
  readonly #request: TurnRequest;
  readonly #targets: readonly string[];
  /** One payload of OPEN for each target that goes first, made when its turn comes: targets may be many, and change often. */
  readonly #payloads: Array<Buffer | undefined> = [];
  #next: number;

  /**
   * @param request what is asked of the agent, but for the targets
   * @param before the turns that these take the place of: they go on where those have come to
   */
  constructor(request: TurnRequest, targets: readonly string[], before?: TargetTurns) {
    this.#request = request;
    this.#targets = targets;
    this.#next = before && targets.length > 0 ? before.#next % targets.length : 0;
  }

  /** The payload for the next connection; undefined = there are no targets. */
  get next(): Buffer | undefined {
    if (this.#targets.length === 0) return undefined;
    const first = this.#next;
    return this.#payloads[first] ??= encodeOpen({ ...this.#request, targets: [...this.#targets.slice(first), ...this.#targets.slice(0, first)] });
  }

  /** It was used: the next target goes first. */
  advance(): void {
    this.#next = (this.#next + 1) % this.#targets.length;
  }
}
