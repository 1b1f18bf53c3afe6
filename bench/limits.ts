import { loadavg } from 'node:os';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Child, endChildren } from '../test/support/child.ts';
import { type Latency, startDatagramFlood, tcpLatency, udpLatency } from '../test/support/datagram-figures.ts';
import {
  clientNow,
  type Direction,
  edit,
  isAllowedByPassword,
  type Limited,
  measureBurst,
  measureCut,
  measureFlow,
  measureRate,
  startLimited,
  visitAs,
} from '../test/support/limit-figures.ts';
import { openTunnel, startAgent, write } from '../test/support/processes.ts';

/**
 * Measures the limits of clients on this machine, with a server and an agent in processes of their own and through the legacy API:
 * how exact a rate is, how far a flow limit is overshot, whether the limit of connections is exact, how soon a change cuts, and what a
 * flood of visitors on one tunnel leaves to another, and what datagrams and bulk leave to each other.
 *
 *     npm run bench:limits -- [--seconds 10] [--rates 256,2048,20480] [--burst 1000] [--only rate,flow,burst,cuts,flood,datagrams]
 */

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    rates: { type: 'string', default: '256,2048,20480' },
    burst: { type: 'string', default: '1000' },
    only: { type: 'string', default: 'rate,flow,burst,cuts,flood,datagrams' },
  },
});

/** Opens connections as fast as it can, 100 at once: each goes at once, or when it was answered. */
const flooder = `
const net = require('node:net');
const waits = process.argv[2] === 'waits';
const visit = () => net.connect(Number(process.argv[1]), '127.0.0.1', function () {
  this.write('e0');
  if (waits) this.once('data', () => this.destroy());
  else this.resetAndDestroy();
}).on('error', () => {}).on('close', visit);
for (let n = 0; n < 100; n++) visit();
console.log('floods');
`;
/** Answers connections, as the target of the flood: in a process of its own, since its work is none of the server's. */
const floodTarget = `
const server = require('node:net').createServer((socket) => socket.on('error', () => {}).on('data', () => socket.write('!'))).listen(0, '127.0.0.1', () => console.log('port ' + server.address().port));
`;

const parts: Readonly<Record<string, (limited: Limited) => Promise<void>>> = { rate, flow, burst, cuts, flood, datagrams };

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
  for (const kilobytes of options.rates.split(',').map(Number)) {
    for (const direction of ['down', 'up', 'both'] as const satisfies readonly Direction[]) {
      for (const streams of [1, 10, 100]) {
        const { ratio, least, most } = await measureRate(limited, { streams, direction, kilobytes, seconds });
        print(
          `  ${String(kilobytes).padStart(6)} KB/s  ${direction.padEnd(4)}  ${String(streams).padStart(3)} streams  ${ratio.toFixed(3)}  (${
            least.toFixed(2)
          } - ${most.toFixed(2)})`,
        );
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
  print(`\nConnections: admitted of a burst of ${visitors}`);
  for (const allowed of [1, 50, 500]) {
    const { admitted, counted } = await measureBurst(limited, { visitors, allowed });
    print(`  ${String(allowed).padStart(3)} allowed  ${admitted} admitted, ${counted} counted`);
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
    ['blocklist', () => edit(limited, { blackiplist: '127.0.0.0/8' }), () => edit(limited, { blackiplist: '' })],
    ['allowlist', () => edit(limited, { ipwhite: 1, ipwhitelist: '192.0.2.0/24' }), () => edit(limited, { ipwhite: 0 })],
    ['global blocklist', admin('/global/save/', { globalBlackIpList: '127.0.0.1' }), admin('/global/save/', { globalBlackIpList: '' })],
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

async function flood(limited: Limited): Promise<void> {
  const seconds = Number(options.seconds);
  print(`\nNew connections a second on one tunnel, over ${seconds} s, 8 at once`);
  const alone = await newConnections(limited.ports[1], seconds);
  print(`  alone                                          ${alone.toFixed(0)}`);
  const target = new Child(process.execPath, ['-e', floodTarget]);
  const [, targetPort] = await target.says(/port (\d+)/);
  const flooded = await openTunnel(limited.server, limited.clientId, `127.0.0.1:${targetPort}`);
  // What the flood takes from the machine is none of the server's doing.
  for (const [kind, what] of [['goes', 'visitors that go at once'], ['waits', 'visitors that wait for an answer']] as const) {
    print(`  ${what}`);
    const elsewhere = await whileDirect(Number(targetPort), kind);
    print(`    while they go straight to their target       ${elsewhere.toFixed(0)}  (${(elsewhere / alone).toFixed(2)} of alone)`);
    const through = await whileDirect(flooded.port, kind);
    print(
      `    while they go through another tunnel         ${through.toFixed(0)}  (${(through / alone).toFixed(2)} of alone, ${
        (through / elsewhere).toFixed(2)
      } of direct)`,
    );
  }

  async function whileDirect(port: number, kind: 'goes' | 'waits'): Promise<number> {
    const child = new Child(process.execPath, ['-e', flooder, String(port), kind]);
    await child.says(/floods/);
    const count = await newConnections(limited.ports[1], seconds);
    await child.end();
    return count;
  }
}

async function newConnections(port: number, seconds: number): Promise<number> {
  const end = performance.now() + seconds * 1000;
  let count = 0;
  await Promise.all(Array.from({ length: 8 }, async () => {
    while (performance.now() < end) if (await isAllowedByPassword(port)) count++;
  }));
  return count / seconds;
}

async function connected(limited: Limited): Promise<void> {
  while (!(await clientNow(limited)).connected) {
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
}

async function datagrams(limited: Limited): Promise<void> {
  const seconds = Number(options.seconds);
  const [tcp] = limited.ports;
  const echo = new Child(process.execPath, [fileURLToPath(new URL('udp-echo.mjs', import.meta.url))]);
  const [, port] = await echo.says(/listening on (\d+)/);
  const udp = await openTunnel(limited.server, limited.clientId, `127.0.0.1:${port}`, 'udp');
  const say = (what: string, { count, lost, p50, p99 }: Latency) =>
    print(`  ${what.padEnd(42)} ${p50.toFixed(2).padStart(7)} ${p99.toFixed(2).padStart(7)}  (${count}, ${lost} lost)`);
  print(`\nRound trips over ${seconds} s: p50 and p99 in ms`);
  say('tcp, alone', await tcpLatency(tcp, seconds));
  say('udp, alone', await udpLatency(udp.port, seconds));
  const bulk = await visitAs(limited.ports[1], 'd', 0);
  bulk.resume();
  say('udp, while a tcp tunnel carries bulk', await udpLatency(udp.port, seconds));
  bulk.destroy();
  const flood = await startDatagramFlood(limited);
  const [sent, received, dropped, start] = [flood.sent, flood.received, await flood.dropped(), performance.now()];
  say('tcp, while a udp tunnel is flooded', await tcpLatency(tcp, seconds));
  const each = (now: number, before: number) => ((now - before) / ((performance.now() - start) / 1000)).toFixed(0);
  print(
    `    datagrams/s: ${each(flood.sent, sent)} sent, ${each(flood.received, received)} arrived, ${
      each(await flood.dropped(), dropped)
    } dropped by the tunnel and shown, the rest by the kernel`,
  );
  await flood.end();
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
