import type { Logger } from 'pino';
import type { Retention, Store } from './store.ts';

/** How often old history is deleted, in ms. */
const PRUNE_MS = 3_600_000;

/** Deletes what is older than is to be kept, now and once an hour. A failure is logged; the next time makes up for it. */
export function pruneRegularly(store: Pick<Store, 'prune'>, retention: Retention, log: Logger): { stop(): Promise<void> } {
  let pruning: Promise<void> = Promise.resolve();
  const prune = (): void => {
    pruning = store.prune(retention).catch((error: unknown) => log.error({ err: error }, 'old history could not be deleted; tried again in an hour'));
  };
  prune();
  const timer = setInterval(prune, PRUNE_MS);
  return {
    stop() {
      clearInterval(timer);
      return pruning;
    },
  };
}
