/** How long the result of a check counts for requests that come after it, in ms. */
const REUSE_MS = 500;

/**
 * A check of health that requests share: those that come together, or soon after, get one result. While the database can't be written, a check writes, and
 * many at once would wait for each other.
 * @param now by a monotonic clock, in ms
 */
export function sharedCheck(check: () => Promise<void>, now: () => number = () => performance.now()): () => Promise<void> {
  let latest: { readonly result: Promise<void>; until: number } | undefined;
  return () => {
    if (latest && now() < latest.until) return latest.result;
    const started = { result: check(), until: Infinity };
    const ended = (): void => {
      started.until = now() + REUSE_MS;
    };
    started.result.then(ended, ended);
    latest = started;
    return started.result;
  };
}
