import type { Logger } from 'pino';
import { failureNote } from './store/database-failure.ts';

/** Something that goes on in the background. */
export interface Regular {
  /** Begins it no more; resolves when what is under way has ended. */
  stop(): Promise<void>;
}

/**
 * Does something now and then every `ms`, one after another. A failure is logged; the next time makes up for it.
 * @param failure what the log says then
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
