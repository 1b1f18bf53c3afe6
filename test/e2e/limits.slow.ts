import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { endChildren } from '../support/child.ts';
import { sized } from '../support/endurance.ts';
import { eventuallyAsync } from '../support/eventually.ts';
import {
  clientNow,
  edit,
  greeted,
  isAllowedByPassword,
  type Limited,
  measureBurst,
  measureCut,
  measureFlow,
  measureRate,
  startLimited,
} from '../support/limit-figures.ts';
import { soonBack, startServer, write, type Parameters } from '../support/processes.ts';
import { removeScratchDirectories } from '../support/scratch.ts';

// Short form: test/engine/limits.test.ts

/** What may pass between a change and the cut, in ms. */
const CUT_MS = 1000;

let limited: Limited;
let ownerId = 0;

beforeAll(async () => {
  limited = await startLimited({}, soonBack);
  ownerId = await write(limited.server, '/user/add/', { username: 'owner', password: 'long enough' });
  await edit(limited, { user_id: ownerId });
});

afterAll(async () => {
  await endChildren();
  removeScratchDirectories();
  limited.close();
});

function admin(route: string, parameters: Parameters): () => Promise<unknown> {
  return () => write(limited.server, route, parameters);
}

function client(parameters: Parameters): () => Promise<unknown> {
  return () => edit(limited, parameters);
}

/** A moment as the API takes it, a whole second at least `ms` from now. */
function inAWhile(ms: number): { readonly at: number; readonly text: string } {
  const at = Math.ceil((Date.now() + ms) / 1000) * 1000;
  return { at, text: new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 19).replace('T', ' ') };
}

async function reconnected(): Promise<void> {
  await eventuallyAsync(() => clientNow(limited), ({ connected }) => connected);
}

describe('by calls of the legacy API, with a server and an agent in processes of their own', () => {
  test.each([
    [
      'disabling the client',
      /the client is disabled/,
      () => admin('/client/changestatus/', { id: limited.clientId, status: 0 }),
      () => admin('/client/changestatus/', { id: limited.clientId, status: 1 }),
    ],
    [
      'disabling its owner',
      /the client is disabled/,
      () => admin('/user/changestatus/', { id: ownerId, status: 0 }),
      () => admin('/user/changestatus/', { id: ownerId, status: 1 }),
    ],
    ['an expiry in the past', /the client has expired/, () => client({ expire_time: '2020-01-01' }), () => client({ expire_time: '' })],
    [
      "an owner's expiry in the past",
      /the client has expired/,
      () => admin('/user/edit/', { id: ownerId, expire_time: '2020-01-01' }),
      () => admin('/user/edit/', { id: ownerId, expire_time: '' }),
    ],
  ])('%s cuts visitor and agent at once, which is refused and says why, and is back when it is undone', async (_, reason, change, undo) => {
    const said = limited.agent.output.length;
    expect(await measureCut(limited, change())).toBeLessThan(CUT_MS);
    expect((await clientNow(limited)).connected).toBe(false);
    await limited.agent.says(new RegExp(`connection to .* lost: ${reason.source}`), said);
    await limited.agent.says(new RegExp(`refused by .*: ${reason.source}`), said);
    expect(await isAllowedByPassword(limited.ports[0])).toBe(false);
    await undo()();
    await reconnected();
    expect(await isAllowedByPassword(limited.ports[0])).toBe(true);
  });

  test('an expiry that passes cuts visitor and agent within a second', async () => {
    const { at, text } = inAWhile(1000);
    const said = limited.agent.output.length;
    await measureCut(limited, client({ expire_time: text }));
    expect(Date.now() - at).toBeLessThan(CUT_MS);
    expect(Date.now()).toBeGreaterThanOrEqual(at);
    await limited.agent.says(/lost: the client has expired/, said);
    await edit(limited, { expire_time: '' });
    await reconnected();
  });

  test('another verification key cuts visitor and agent, and the agent with the old one is refused', async () => {
    const said = limited.agent.output.length;
    expect(await measureCut(limited, client({ vkey: 'another key' }))).toBeLessThan(CUT_MS);
    await limited.agent.says(/lost: the vkey of the client was changed/, said);
    await limited.agent.says(/refused by .*: the server does not know this vkey/, said);
    await edit(limited, { vkey: limited.vkey });
    await reconnected();
  });

  test('a client that is moved to another owner keeps serving, and is disconnected when that owner is disabled', async () => {
    const other = await write(limited.server, '/user/add/', { username: 'other', password: 'long enough' });
    const visitor = await greeted(limited.ports[0]);
    await edit(limited, { user_id: other });
    await write(limited.server, '/user/changestatus/', { id: ownerId, status: 0 });
    visitor?.write('still here');
    await new Promise((resolve) => visitor?.once('data', resolve));
    const said = limited.agent.output.length;
    expect(await measureCut(limited, client({ user_id: ownerId }))).toBeLessThan(CUT_MS);
    await limited.agent.says(/lost: the client is disabled/, said);
    await write(limited.server, '/user/changestatus/', { id: ownerId, status: 1 });
    await reconnected();
  });

  test('moving a tunnel to another client disconnects its visitors', async () => {
    const other = await write(limited.server, '/client/add/', { remark: 'another' });
    const [id] = limited.tunnels;
    expect(await measureCut(limited, admin('/index/edit/', { id, client_id: other }))).toBeLessThan(CUT_MS);
    expect(await isAllowedByPassword(limited.ports[0])).toBe(false);
    await write(limited.server, '/index/edit/', { id, client_id: limited.clientId });
    expect(await isAllowedByPassword(limited.ports[0])).toBe(true);
  });

  test.each([
    ['the blacklist of the client', () => client({ blackiplist: '10.0.0.1\r\n127.0.0.0/8' }), () => client({ blackiplist: '' })],
    ['its whitelist', () => client({ ipwhite: 1, ipwhitelist: '192.0.2.0/24' }), () => client({ ipwhitelist: '192.0.2.0/24\r\n::ffff:127.0.0.1' })],
    ['the global blacklist', () => admin('/global/save/', { globalBlackIpList: '127.0.0.1' }), () => admin('/global/save/', { globalBlackIpList: '' })],
    ['a flow limit below what was used', () => client({ flow_limit: 1 }), () => client({ flow_limit: 0 })],
    ['a limit of connections below those that are open', () => client({ max_conn: 1 }), () => client({ max_conn: 0 })],
  ])('%s cuts visitors at once and turns new ones away; the agent stays', async (_, change, undo) => {
    const said = limited.agent.output.length;
    await measureRate(limited, { streams: 1, direction: 'down', kilobytes: 100_000, seconds: 0.05 });
    const first = await greeted(limited.ports[1]);
    expect(await measureCut(limited, change())).toBeLessThan(CUT_MS);
    expect(await isAllowedByPassword(limited.ports[0])).toBe(false);
    await undo()();
    first?.destroy();
    expect(await isAllowedByPassword(limited.ports[0])).toBe(true);
    expect(limited.agent.output.slice(said)).toBe('');
  });

  test.each(sized([1, 20], [1, 10, 100]))('%i streams share the rate of their client, both directions together', async (streams) => {
    const { ratio, least, most } = await measureRate(limited, { streams, direction: 'both', kilobytes: 1024, seconds: sized(1.5, 10) });
    // What is under way when so short a time begins and ends counts for much of it; without the limit the ratio would be above 100.
    expect(ratio).toBeGreaterThan(sized(0.4, 0.95));
    expect(ratio).toBeLessThan(sized(1.6, 1.05));
    expect(least).toBeGreaterThan(sized(0.2, 0.8));
    expect(most).toBeLessThan(sized(4, 1.25));
  });

  test('of a burst exactly as many connections are admitted as allowed', async () => {
    expect(await measureBurst(limited, { visitors: sized(150, 1000), allowed: 50 })).toEqual({ admitted: 50, counted: 50 });
  });

  test('a flow limit is overshot by less than 1 MB per connection, survives a restart, and admits visitors again when it is raised', async () => {
    const { overshoot } = await measureFlow(limited, { streams: 4, megabytes: 8 });
    expect(overshoot).toBeGreaterThan(0);
    expect(overshoot).toBeLessThan(2 ** 20);
    expect(await isAllowedByPassword(limited.ports[0])).toBe(false);
    const { dataDir, httpPort, bridgePort, child } = limited.server;
    child.kill('SIGTERM');
    await child.exited;
    limited = { ...limited, server: await startServer({ dataDir, httpPort, bridgePort }) };
    await reconnected();
    expect(await isAllowedByPassword(limited.ports[0])).toBe(false);
    await edit(limited, { flow_limit: 0 });
    expect(await isAllowedByPassword(limited.ports[0])).toBe(true);
  });
});
