import { encodeOpen, type OpenRequest } from '../../wire/open.ts';

type TargetRequest = Omit<OpenRequest<'tcp'>, 'targets'> | Omit<OpenRequest<'udp'>, 'targets'> | Omit<OpenRequest<'dial'>, 'targets'>;

/** The targets of a tunnel in round-robin order: the agent tries them in the order given, and each connection starts with the next one. */
export class TargetRotation {
  readonly #request: TargetRequest;
  readonly #targets: readonly string[];
  /** One payload of OPEN for each first target, made on demand: targets may be many, and change often. */
  readonly #payloads: Array<Buffer | undefined> = [];
  #next: number;

  /**
   * @param request the request to the agent, without the targets
   * @param before the rotation that this one replaces and continues
   */
  constructor(request: TargetRequest, targets: readonly string[], before?: TargetRotation) {
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
