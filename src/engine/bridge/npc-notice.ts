import type { Logger } from 'pino';
import { FailureLimit } from '../../rules/failure-limit.ts';

const HOUR_MS = 3_600_000;
/** Log lines per address: such an agent reconnects every 5 s. */
const perAddress = { allowed: 1, windowMs: HOUR_MS, sources: 1000 };
/** Log lines for all addresses together. */
const inAll = { allowed: 60, windowMs: HOUR_MS, sources: 1 };

/** Logs that agents of the NPS family connect, which this bridge does not serve, and what to do about it. */
export class NpcNotice {
  readonly #log: Logger;
  readonly #byAddress = new FailureLimit(perAddress);
  readonly #all = new FailureLimit(inAll);

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Called when such an agent connects. @param now ms since the epoch */
  connected(address: string, now: number): void {
    if (this.#byAddress.wait(address, now) > 0 || this.#all.wait('', now) > 0) return;
    this.#byAddress.add(address, now);
    this.#all.add('', now);
    this.#log.warn(
      { address },
      'an agent of the NPS family (npc) connects to the bridge, which does not speak its protocol: run `adit agent --server HOST:PORT` there instead, with the verification key of its client in ADIT_VKEY',
    );
  }
}
