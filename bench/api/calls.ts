import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { signedNow, startServer, type ServerProcess } from '../../test/support/processes.ts';
import { scratchDirectory } from '../../test/support/scratch.ts';
import type { Quiet } from '../quiet.ts';
import { cpuMeter } from '../usage.ts';
import type { Measured, Samples } from '../report.ts';
import type { Results } from '../results.ts';
import type { Sample } from '../works/work.ts';
import { wrk, type WrkResult } from '../wrk.ts';

const ownRoot = path.resolve(import.meta.dirname, '../..');

/** Something that is called over and over. */
export interface Called {
  readonly name: string;
  /** The callers are divided between these. */
  readonly urls: readonly string[];
  readonly pids: readonly number[];
  /** The fields of the form other than the signature. */
  readonly form: string;
  /** A further field, which has another value in each call. */
  readonly numbered?: string;
  readonly connections: number;
}

/** A compiled checkout of this program. */
export interface Checkout {
  /** What reports call it. */
  readonly name: string;
  /** Left out = this one. */
  readonly root?: string;
}

/** How often and how long everything is measured. */
export interface Plan {
  readonly rounds: number;
  readonly seconds: number;
  readonly quiet: Quiet;
  readonly results: Results;
  /** The other checkouts that --against names. */
  readonly formers: readonly Checkout[];
}

/** This checkout and those that it is compared with. */
export function checkouts({ formers }: Plan): Checkout[] {
  return [{ name: 'Adit' }, ...formers];
}

/** How many rows of each kind a database holds; all tunnels and hosts are the first client's. */
export interface Seed {
  readonly clients: number;
  readonly tunnels?: number;
  readonly hosts?: number;
  readonly users?: number;
}

/** A server of a checkout over so many rows. */
export async function startSeeded({ root = ownRoot }: Checkout, { clients, tunnels = 0, hosts = 0, users = 0 }: Seed): Promise<ServerProcess> {
  const dataDir = scratchDirectory();
  const arguments_ = ['--import', 'tsx', path.join(import.meta.dirname, 'seed.mjs'), dataDir, JSON.stringify({ clients, tunnels, hosts, users })];
  await promisify(execFile)(process.execPath, arguments_, { cwd: root });
  return startServer({ dataDir, root, environment: { ADIT_LOG_LEVEL: 'warn' } });
}

/** Measures all one after another, round after round, each round starting with another one. */
export async function measureAll(called: readonly Called[], { rounds, seconds, quiet }: Plan): Promise<Samples> {
  const samples = new Map(called.map(({ name }): [string, Measured[]] => [name, []]));
  for (let round = 0; round <= rounds; round++) { // round 0 warms up
    for (const one of called.map((_, index) => called[(index + round) % called.length])) {
      if (!one) continue;
      process.stderr.write(`round ${round} of ${rounds}: ${one.name}\n`);
      const { result, background } = await quiet.measure(() => measure(one, seconds));
      if (round > 0) samples.get(one.name)?.push({ ...result, background });
    }
  }
  return samples;
}

/** The form is signed each time: a signature is valid for 20 s. */
async function measure({ urls, pids, form, numbered, connections }: Called, seconds: number): Promise<Sample> {
  const { auth_key: authKey, timestamp } = signedNow();
  const script = path.join(scratchDirectory(), 'post.lua');
  writeFileSync(
    script,
    `wrk.method = "POST"
wrk.headers["Content-Type"] = "application/x-www-form-urlencoded"
wrk.body = "auth_key=${authKey}&timestamp=${timestamp}&${form}"
${numbered === undefined ? '' : numberedCalls(numbered)}`,
  );
  const used = cpuMeter(pids);
  const results = await Promise.all(urls.map((url) => wrk({ url, connections: connections / urls.length, seconds, script })));
  const sum = (of: (result: WrkResult) => number) => results.reduce((total, result) => total + of(result), 0);
  const errors = [...new Set(results.map((result) => result.errors).filter((text) => text !== ''))].join('; ');
  return { figures: { 'requests/s': sum(({ perSecond }) => perSecond), 'CPU us/request': used(sum(({ requests }) => requests)) * 1e6 }, errors };
}

/** Lua for wrk. No call of another round or server has the same value. */
function numberedCalls(field: string): string {
  return `local calls = 0
local first = wrk.body .. "&${field}=${randomUUID()}-"
function request()
  calls = calls + 1
  return wrk.format(nil, nil, nil, first .. calls)
end
`;
}
