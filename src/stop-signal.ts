import process from 'node:process';
import type { Logger } from 'pino';

/** Resolves at the first SIGTERM or SIGINT; a second signal ends the process immediately. */
export function stopSignal(log: Logger): Promise<void> {
  return new Promise((resolve) => {
    let stopping = false;
    const onSignal = (signal: NodeJS.Signals): void => {
      if (stopping) {
        log.warn({ signal }, 'stopped at once');
        process.exit(1);
      }
      stopping = true;
      resolve();
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
}
