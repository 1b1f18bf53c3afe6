import type { Logger } from 'pino';
import { failureNote } from './store/database-failure.ts';

/** A recurring background task. */
export interface Regular {
  /** Stops the recurrence; resolves when the current run has ended. */
  stop(): Promise<void>;
}

/**
 * Runs a task now and every `ms`, but never concurrently. A failure is logged, and the task runs again at the next interval.
 * @param failure the log message for a failure
 */
export function regularly(ms: number, work: () => Promise<void>, log: Logger, failure: string): Regular {
  let last: Promise<void> = Promise.resolve();
  let running = false;
  const run = async (): Promise<void> => {
    running = true;
    try {
      await work();
    } catch (error) {
      log.error(failureNote(error), failure);
    } finally {
      running = false;
    }
  };
  const start = (): void => {
    if (!running) last = run();
  };
  start();
  const timer = setInterval(start, ms);
  return {
    stop() {
      clearInterval(timer);
      return last;
    },
  };
}
