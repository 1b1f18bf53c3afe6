import path from 'node:path';
import { pathToFileURL } from 'node:url';
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

/** Asks `/healthz` all the time until it is stopped. @returns ends it, and gives the longest that an answer took, in ms */
export function askHealth({ httpPort }: Pick<ServerProcess, 'httpPort'>): () => Promise<number> {
  const stopping = new AbortController();
  const asking = (async () => {
    let longest = 0;
    while (!stopping.signal.aborted) {
      const begun = performance.now();
      const response = await fetch(`http://127.0.0.1:${httpPort}/healthz`);
      await response.arrayBuffer();
      if (response.status !== 200) throw new Error(`/healthz answered ${response.status}`);
      longest = Math.max(longest, performance.now() - begun);
      await new Promise((resolve) => { setTimeout(resolve, 10); });
    }
    return longest;
  })();
  return () => {
    stopping.abort();
    return asking;
  };
}
