import { once } from 'node:events';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import type { ServerProcess } from './processes.ts';

/** The environment of a server whose event loop is watched. Linux only. */
export const watchedLoop = { NODE_OPTIONS: `--import ${pathToFileURL(path.resolve(import.meta.dirname, 'loop-probe.mjs')).href}` };

/** Watches the event loop of a server that was started with {@link watchedLoop}. */
export class LoopHold {
  readonly #server: ServerProcess;
  #asked = 0;

  constructor(server: ServerProcess) {
    this.#server = server;
  }

  /** The most CPU time of the server's main thread between two iterations of its event loop since the last call, in ms. */
  async most(): Promise<number> {
    const { child } = this.#server;
    child.kill('SIGUSR2');
    const [, ms] = await child.says(new RegExp(`loop ${++this.#asked} ([\\d.]+) ms`));
    return Number(ms);
  }
}

/** Requests `/healthz` again and again, from a thread of its own. @returns stops it, and returns the longest time that a response took, in ms */
export async function askHealth({ httpPort }: Pick<ServerProcess, 'httpPort'>): Promise<() => Promise<number>> {
  const prober = new Worker(path.resolve(import.meta.dirname, 'health-prober.mjs'), { workerData: httpPort, execArgv: [] });
  await once(prober, 'message');
  return async () => {
    const answered: Promise<unknown[]> = once(prober, 'message');
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker, not a window
    prober.postMessage('stop');
    const [longest] = await answered;
    return z.number().parse(longest);
  };
}
