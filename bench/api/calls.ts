import { writeFileSync } from 'node:fs';
import path from 'node:path';
import pino from 'pino';
import type { Store } from '../../src/store/store.ts';
import { openStore } from '../../src/store/store.ts';
import { signedNow, startServer, type ServerProcess } from '../../test/support/processes.ts';
import { scratchDirectory } from '../../test/support/scratch.ts';
import type { Quiet } from '../quiet.ts';
import { cpuSeconds } from '../usage.ts';
import type { Sample } from '../works/work.ts';
import { wrk } from '../wrk.ts';

/** Something that is called over and over. */
export interface Called {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
  /** What the form holds besides the signature. */
  readonly form: string;
  readonly connections: number;
}

/** How often and how long everything is measured. */
export interface Plan {
  readonly rounds: number;
  readonly seconds: number;
  readonly quiet: Quiet;
  /** Another checkout, compiled, that writes are compared with. */
  readonly baseline?: string;
}

/** A server over what `seed` has put into its database. */
export async function startSeeded(seed: (store: Store) => Promise<unknown>): Promise<ServerProcess> {
  const dataDir = scratchDirectory();
  const store = await openStore({ url: '', dataDir, log: pino({ level: 'silent' }) });
  await seed(store);
  await store.close();
  return startServer({ dataDir, environment: { ADIT_LOG_LEVEL: 'warn' } });
}

/** Measures all in turn, round after round, the one that begins changing with each. */
export async function measureAll(called: readonly Called[], { rounds, seconds, quiet }: Plan): Promise<ReadonlyMap<string, readonly Sample[]>> {
  const samples = new Map(called.map(({ name }): [string, Sample[]] => [name, []]));
  for (let round = 0; round <= rounds; round++) { // round 0 warms up
    for (const one of called.map((_, index) => called[(index + round) % called.length])) {
      if (!one) continue;
      process.stderr.write(`round ${round} of ${rounds}: ${one.name}\n`);
      const sample = await quiet.measure(() => measure(one, seconds));
      if (round > 0) samples.get(one.name)?.push(sample);
    }
  }
  return samples;
}

/** The form is signed anew each time: a signature is valid for 20 s. */
async function measure({ url, pid, form, connections }: Called, seconds: number): Promise<Sample> {
  const { auth_key: authKey, timestamp } = signedNow();
  const script = path.join(scratchDirectory(), 'post.lua');
  writeFileSync(script, `wrk.method = "POST"
wrk.headers["Content-Type"] = "application/x-www-form-urlencoded"
wrk.body = "auth_key=${authKey}&timestamp=${timestamp}&${form}"
`);
  const before = cpuSeconds([pid]);
  const { perSecond, requests, errors } = await wrk({ url, connections, seconds, script });
  return { figures: { 'requests/s': perSecond, 'CPU us/request': (cpuSeconds([pid]) - before) * 1e6 / requests }, errors };
}
