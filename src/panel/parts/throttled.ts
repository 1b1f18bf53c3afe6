import { useEffect, useEffectEvent, useMemo } from 'react';

/** At most one call within this many ms. */
const intervalMs = 1000;

/** A function that calls `work` soon, but at most once a second, however often it is called. */
export function useThrottled(work: () => void): () => void {
  const run = useEffectEvent(work);
  const state = useMemo<{ timer: ReturnType<typeof setTimeout> | undefined; call: () => void }>(() => ({ timer: undefined, call: () => {} }), []);
  useEffect(() => {
    state.call = () => {
      state.timer ??= setTimeout(() => {
        state.timer = undefined;
        run();
      }, intervalMs);
    };
    return () => {
      clearTimeout(state.timer);
      state.timer = undefined;
      state.call = () => {};
    };
  }, [state]);
  return () => state.call();
}
