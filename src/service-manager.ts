import process from 'node:process';
import type { Logger } from 'pino';

/**
 * Tells systemd that the program is ready, and from then on that it works: a program whose event loop is stuck is restarted. Does nothing unless systemd waits for it. Uses
 * `systemd-notify`, since Node has no Unix datagram sockets. The unit must have `NotifyAccess=all`.
 * @returns a function that tells systemd that the program is stopping
 */
export function notifyServiceManager(environment: NodeJS.ProcessEnv, log: Logger): () => void {
  const { NOTIFY_SOCKET, WATCHDOG_USEC } = environment;
  if (NOTIFY_SOCKET === undefined) return () => undefined;
  const notify = async (...words: readonly string[]): Promise<void> => {
    const { execFile } = await import('node:child_process'); // otherwise each agent would load it
    execFile('systemd-notify', words, { timeout: 10_000 }, (error) => {
      if (error) log.warn({ problem: error.message }, 'systemd could not be notified');
    });
  };
  void notify('--ready', `MAINPID=${process.pid}`);
  // Half of the time would be enough; a third leaves room for one that gets lost.
  const alive = WATCHDOG_USEC === undefined ? undefined : setInterval(() => void notify('WATCHDOG=1'), Number(WATCHDOG_USEC) / 3000);
  alive?.unref();
  return () => {
    clearInterval(alive);
    void notify('STOPPING=1');
  };
}
