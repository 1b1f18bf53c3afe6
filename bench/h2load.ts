import { programPath } from '../test/support/find-program.ts';
import { Child } from '../test/support/child.ts';
import type { WrkResult } from './wrk.ts';

/** What h2load is to do. */
export interface H2loadOptions {
  readonly url: string;
  readonly connections: number;
  /** Requests under way at a time on each connection. */
  readonly streams: number;
  readonly seconds: number;
}

/** Asks over HTTP/2, by h2load on one thread. @throws when it fails or prints no figures */
export async function h2load({ url, connections, streams, seconds }: H2loadOptions): Promise<Omit<WrkResult, 'p99'>> {
  const child = new Child(programPath('h2load'), ['-t1', `-c${connections}`, `-m${streams}`, `--duration=${seconds}`, url]);
  const watchdog = setTimeout(() => child.kill('SIGKILL'), (seconds + 15) * 1000);
  const { code } = await child.exited;
  clearTimeout(watchdog);
  const { output } = child;
  const figures =
    /^finished in [\d.]+\w+, ([\d.]+) req\/s[^]*^requests: .* (\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout$[^]*^status codes: \d+ 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx$/m
      .exec(output);
  if (code !== 0 || !figures || !/^Application protocol: h2$/m.test(output)) throw new Error(`h2load failed on ${url}:\n${output}`);
  const [, perSecond, requests, ...wrong] = figures.map(Number);
  if (perSecond === undefined || requests === undefined) throw new Error('two groups make two numbers');
  const faults = wrong.reduce((sum, count) => sum + count, 0);
  return { requests, perSecond, errors: faults === 0 ? '' : `${faults} failures` };
}
