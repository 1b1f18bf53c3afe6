import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { programPath } from '../test/support/find-program.ts';
import { Child } from '../test/support/child.ts';
import { scratchDirectory } from '../test/support/scratch.ts';

/** What wrk is to do. */
export interface WrkOptions {
  readonly url: string;
  readonly connections: number;
  /** Whole seconds: wrk takes no others. */
  readonly seconds: number;
  readonly headers?: readonly string[];
  /** Asked for in place of the URL's: a forward proxy wants a whole URL here. */
  readonly path?: string;
  /** A Lua script. */
  readonly script?: string;
}

/** What wrk saw. */
export interface WrkResult {
  readonly requests: number;
  readonly perSecond: number;
  /** ms that 99 of 100 answers took at most. */
  readonly p99: number;
  /** "" = none; else wrk's line on failed connections, reads, writes and answers other than 2xx. */
  readonly errors: string;
}

/** Runs wrk on one thread. @throws when it fails or prints no figures */
export async function wrk(
  { url, connections, seconds, headers = [], path, script = path === undefined ? undefined : pathScript(path) }: WrkOptions,
): Promise<WrkResult> {
  const child = new Child(programPath('wrk'), [
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--latency',
    ...headers.flatMap((header) => ['-H', header]),
    ...(script ? ['-s', script] : []),
    url,
  ]);
  const watchdog = setTimeout(() => child.kill('SIGKILL'), (seconds + 15) * 1000);
  const { code } = await child.exited;
  clearTimeout(watchdog);
  const { output } = child;
  const figure = (pattern: RegExp): RegExpExecArray => {
    const found = pattern.exec(output);
    if (code !== 0 || !found) throw new Error(`wrk failed on ${url}:\n${output}`);
    return found;
  };
  const [, time, unit = ''] = figure(/^ +99% +([\d.]+)(us|ms|s|m) *$/m);
  return {
    requests: Number(figure(/^ +(\d+) requests in/m)[1]),
    perSecond: Number(figure(/^Requests\/sec: +([\d.]+)$/m)[1]),
    p99: Number(time) * ({ us: 0.001, ms: 1, s: 1000, m: 60_000 }[unit] ?? NaN),
    errors: (output.match(/^ +(?:Socket errors|Non-2xx).*$/gm) ?? []).map((line) => line.trim()).join('; '),
  };
}

function pathScript(path: string): string {
  const file = join(scratchDirectory(), 'path.lua');
  writeFileSync(file, `wrk.path = ${JSON.stringify(path)}\n`);
  return file;
}
