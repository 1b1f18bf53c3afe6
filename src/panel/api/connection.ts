import { base } from '../base.ts';
import { createStore } from './store.ts';

/** The time before the first retry, in ms. Each further one waits twice as long. */
const firstRetryMs = 1000;
/** The longest time between retries, in ms. */
const longestRetryMs = 30_000;
/** A connection that returns within this many ms is not reported as lost. */
const graceMs = 3000;

/** Since when the server has been unreachable; undefined = it is reachable. */
export const lostSince = createStore<Date | undefined>(undefined);
/** Counts how often the connection returned: what was read before then is outdated. */
export const recoveries = createStore(0);

let since: Date | undefined;
let retryMs = firstRetryMs;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Called when a request got no response from the server. Retries until the server responds. */
export function reportUnreachable(): void {
  if (since !== undefined) return;
  since = new Date();
  retryMs = firstRetryMs;
  setTimeout(() => {
    if (since !== undefined) lostSince.set(since);
  }, graceMs);
  schedule();
}

/** Called when the server responded. */
export function reportReached(): void {
  if (since === undefined) return;
  since = undefined;
  clearTimeout(timer);
  lostSince.set(undefined);
  recoveries.set(recoveries.get() + 1);
}

/** Tries now instead of after the waiting time. */
export async function retryNow(): Promise<void> {
  clearTimeout(timer);
  try {
    const { ok } = await fetch(`${base}/readyz`, { cache: 'no-store' });
    if (ok) return reportReached();
  } catch {
    // The server is still unreachable.
  }
  if (since !== undefined) schedule();
}

function schedule(): void {
  clearTimeout(timer);
  timer = setTimeout(() => void retryNow(), retryMs);
  retryMs = Math.min(retryMs * 2, longestRetryMs);
}

window.addEventListener('online', () => {
  if (since !== undefined) void retryNow();
});
