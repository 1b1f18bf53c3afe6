import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Site } from './site.ts';
import { CutShort, type Traffic, WrongBytes } from './transfer.ts';

/** What transfers move, and how often: most are small, some are long enough to move to a connection of their own. */
const SIZES = [1, 1, 1000, 1000, 1000, 20_000, 20_000, 20_000, 200_000, 1_500_000] as const;
/** The mean wait of each kind of traffic of each site between two transfers, in ms. */
const PAUSE_MS = 1200;
/** A transfer that takes longer hangs, whatever else is going on. */
const HANG_MS = 30_000;
/** After a disturbance everything has to work again within this time. */
const RECOVERY_MS = 25_000;

/** Keeps traffic of every kind going at a steady pace, and says of each transfer that failed whether a disturbance explains it. */
export class Load {
  /** Whole, hash-checked transfers, by site and kind. */
  readonly done = new Map<string, number>();
  /** Failures that a disturbance explains, by their message. */
  readonly excused = new Map<string, number>();
  /** All others. */
  readonly failures: string[] = [];
  readonly #disturbed = new Map<Site, { readonly from: number; until: number; readonly killed: string | undefined }[]>();
  readonly #running: Promise<unknown>[] = [];
  #stopped = new AbortController();
  #seed = 0;

  /** Starts a loop for each kind of traffic of each site. */
  start(sites: readonly Site[]): void {
    this.#stopped = new AbortController();
    setMaxListeners(0, this.#stopped.signal);
    for (const site of sites) for (const traffic of site.traffic) this.#running.push(this.#loop(site, traffic));
  }

  /** Ends them, each after its present transfer. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#running.splice(0));
  }

  /**
   * Does something that may end a site's transfers, and waits until all of its traffic goes through again.
   * @param killed the traffic whose own program is killed
   * @throws {Error} when it does not
   */
  async disturb(site: Site, disturbance: () => Promise<unknown>, killed?: string): Promise<void> {
    const span = { from: performance.now(), until: Infinity, killed };
    this.#disturbed.set(site, [...this.#disturbed.get(site) ?? [], span]);
    await intime(disturbance(), 'the disturbance');
    await Promise.all(site.traffic.map((traffic) => this.#recovered(traffic)));
    span.until = performance.now();
  }

  async #recovered(traffic: Traffic): Promise<void> {
    const until = performance.now() + RECOVERY_MS;
    for (;;) {
      try {
        await intime(traffic.run(10, ++this.#seed));
        return;
      } catch (error) {
        if (error instanceof WrongBytes || error instanceof Hang || performance.now() > until) {
          throw new Error(`${traffic.name} did not come back after a disturbance`, { cause: error });
        }
        await delay(200);
      }
    }
  }

  async #loop(site: Site, traffic: Traffic): Promise<void> {
    const { signal } = this.#stopped;
    const name = `${site.name} ${traffic.name}`;
    while (!signal.aborted) {
      const bytes = SIZES[Math.floor(Math.random() * SIZES.length)] ?? 1;
      const from = performance.now();
      try {
        await intime(traffic.run(bytes, ++this.#seed));
        this.done.set(name, (this.done.get(name) ?? 0) + 1);
      } catch (error) {
        this.#failed(site, traffic, from, error);
      }
      await delay(PAUSE_MS * (0.5 + Math.random()), undefined, { signal }).catch(() => undefined);
    }
  }

  #failed(site: Site, { name }: Traffic, from: number, error: unknown): void {
    const text = `${site.name} ${name}: ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`;
    const spans = (this.#disturbed.get(site) ?? []).filter((span) => span.from <= performance.now() && span.until >= from);
    const wrong = error instanceof CutShort ? spans.every(({ killed }) => killed !== name) : error instanceof WrongBytes;
    if (spans.length > 0 && !wrong && !(error instanceof Hang)) this.excused.set(text, (this.excused.get(text) ?? 0) + 1);
    else this.failures.push(`${text} (began at ${Math.round(from / 1000)} s, failed at ${Math.round(performance.now() / 1000)} s)`);
  }
}

class Hang extends Error {
  override readonly name = 'Hang';
}

/** @throws {Hang} when it takes too long, whatever else goes on */
async function intime(work: Promise<unknown>, what = 'it'): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Hang(`${what} was not over after ${HANG_MS / 1000} s`)), HANG_MS);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    work.catch(() => undefined);
  }
}
