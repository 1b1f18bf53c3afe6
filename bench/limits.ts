import { loadavg } from 'node:os';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { endChildren } from '../test/support/child.ts';
import {
  clientNow, type Direction, edit, type Limited, measureBurst, measureCut, measureFlow, measureRate, startLimited,
} from '../test/support/limit-figures.ts';
import { startAgent, write } from '../test/support/processes.ts';

/**
 * Measures the limits of clients on this machine, with a server and an agent in processes of their own and through the legacy API:
 * how exact a rate is, how far a flow limit is overshot, whether the limit of connections is exact, and how soon a change cuts.
 *
 *     npm run bench:limits -- [--seconds 10] [--burst 1000] [--only rate,flow,burst,cuts]
 */

const { values: options } = parseArgs({ options: {
  seconds: { type: 'string', default: '10' },
  burst: { type: 'string', default: '1000' },
  only: { type: 'string', default: 'rate,flow,burst,cuts' },
} });

const parts: Readonly<Record<string, (limited: Limited) => Promise<void>>> = { rate, flow, burst, cuts };

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1)); // children end with the process
print(`load of the machine before: ${loadavg().map((load) => load.toFixed(2)).join(' ')}`);
for (const name of options.only.split(',')) {
  const part = parts[name];
  if (!part) throw new Error(`nothing is called ${name}`);
  const limited = await startLimited({ environment: { ADIT_LOG_LEVEL: 'warn' } });
  await part(limited);
  limited.close();
  await endChildren();
}
print(`load of the machine after: ${loadavg().map((load) => load.toFixed(2)).join(' ')}`);
process.exit();

async function rate(limited: Limited): Promise<void> {
  const seconds = Number(options.seconds);
  print(`\nRate over ${seconds} s: what moved over what was allowed; the least and the most of one stream over the mean`);
  for (const kilobytes of [256, 2048, 20_480]) {
    for (const direction of ['down', 'up', 'both'] as const satisfies readonly Direction[]) {
      for (const streams of [1, 10, 100]) {
        const { ratio, least, most } = await measureRate(limited, { streams, direction, kilobytes, seconds });
        print(`  ${String(kilobytes).padStart(6)} KB/s  ${direction.padEnd(4)}  ${String(streams).padStart(3)} streams  ${ratio.toFixed(3)}  (${least.toFixed(2)} - ${most.toFixed(2)})`);
      }
    }
  }
}

async function flow(limited: Limited): Promise<void> {
  print('\nFlow limit: KB beyond it for each connection');
  for (const streams of [1, 10, 100]) {
    const { overshoot } = await measureFlow(limited, { streams, megabytes: 200 });
    print(`  ${String(streams).padStart(3)} connections  ${(overshoot / 1024).toFixed(1)}`);
  }
}

async function burst(limited: Limited): Promise<void> {
  const visitors = Number(options.burst);
  print(`\nConnections: let in of a burst of ${visitors}`);
  for (const allowed of [1, 50, 500]) {
    const { letIn, counted } = await measureBurst(limited, { visitors, allowed });
    print(`  ${String(allowed).padStart(3)} allowed  ${letIn} let in, ${counted} counted`);
  }
}

async function cuts(limited: Limited): Promise<void> {
  print('\nOpen connections are cut after (ms, from the call):');
  const { server, clientId, vkey } = limited;
  const admin = (route: string, parameters: Readonly<Record<string, string | number>>) => () => write(server, route, parameters);
  const userId = await write(server, '/user/add/', { username: 'owner', password: 'long enough' });
  await edit(limited, { user_id: userId });
  const cases: readonly (readonly [string, () => Promise<unknown>, () => Promise<unknown>])[] = [
    ['client disabled', admin('/client/changestatus/', { id: clientId, status: 0 }), admin('/client/changestatus/', { id: clientId, status: 1 })],
    ['owner disabled', admin('/user/changestatus/', { id: userId, status: 0 }), admin('/user/changestatus/', { id: userId, status: 1 })],
    ['blacklist', () => edit(limited, { blackiplist: '127.0.0.0/8' }), () => edit(limited, { blackiplist: '' })],
    ['whitelist', () => edit(limited, { ipwhite: 1, ipwhitelist: '192.0.2.0/24' }), () => edit(limited, { ipwhite: 0 })],
    ['global blacklist', admin('/global/save/', { globalBlackIpList: '127.0.0.1' }), admin('/global/save/', { globalBlackIpList: '' })],
    ['flow limit', () => edit(limited, { flow_limit: 1 }), () => edit(limited, { flow_limit: 0 })],
  ];
  // More than the flow limit of the last case.
  await measureRate(limited, { streams: 1, direction: 'down', kilobytes: 8192, seconds: 1 });
  await edit(limited, { rate_limit: 0 });
  for (const [name, change, restore] of cases) {
    print(`  ${name.padEnd(20)} ${(await measureCut(limited, change)).toFixed(0)}`);
    await restore();
    await connected(limited);
  }
  const expiry = new Date(Math.ceil(Date.now() / 1000) * 1000 + 2000);
  const local = new Date(expiry.getTime() - expiry.getTimezoneOffset() * 60_000).toISOString().slice(0, 19).replace('T', ' ');
  await measureCut(limited, () => edit(limited, { expire_time: local }));
  print(`  ${'expiry (its moment)'.padEnd(20)} ${Date.now() - expiry.getTime()}`);
  await edit(limited, { expire_time: '' });
  await connected(limited);
  print(`  ${'verification key'.padEnd(20)} ${(await measureCut(limited, () => edit(limited, { vkey: 'another' }))).toFixed(0)}`);
  await edit(limited, { vkey });
  await startAgent(server, vkey);
}

async function connected(limited: Limited): Promise<void> {
  while (!(await clientNow(limited)).connected) await new Promise((resolve) => { setTimeout(resolve, 50); });
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
