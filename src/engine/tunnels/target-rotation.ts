import { encodeOpen, type OpenRequest } from '../../wire/open.ts';

/** The most targets that an agent tries for a connection: a visitor has left long before more have failed. */
const TRIED = 100;
/** Payloads are kept for at most so many targets: with more, each connection makes its own. */
const KEPT = 32;

type TargetRequest = Omit<OpenRequest<'tcp'>, 'targets'> | Omit<OpenRequest<'udp'>, 'targets'> | Omit<OpenRequest<'dial'>, 'targets'>;

/** The targets of a tunnel in round-robin order: the agent tries a hundred of them in the order given, and each connection starts with the next one. */
export class TargetRotation {
  readonly #request: TargetRequest;
  readonly #targets: readonly string[];
  /** One payload of OPEN for each first target, made on demand, since targets change often. */
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
    return this.#targets.length > KEPT ? this.#payloadFrom(this.#next) : this.#payloads[this.#next] ??= this.#payloadFrom(this.#next);
  }

  #payloadFrom(first: number): Buffer {
    const targets = this.#targets.slice(first, first + TRIED);
    return encodeOpen({ ...this.#request, targets: [...targets, ...this.#targets.slice(0, Math.min(first, TRIED - targets.length))] });
  }

  /** It was used: the next target goes first. */
  advance(): void {
    this.#next = (this.#next + 1) % this.#targets.length;
  }
}
