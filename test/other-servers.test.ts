import { setImmediate as nextIteration } from 'node:timers/promises';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { commonClock, type JoinParts, joinServers, otherServers } from '../src/other-servers.ts';
import { awakeNow } from '../src/rules/awake-clock.ts';
import { KeyLostError } from '../src/installation-keys.ts';
import type { NodeState } from '../src/store/nodes.ts';
import type { Store } from '../src/store/store.ts';
import { version } from '../src/version.ts';
import { LogRecorder } from './support/log-recorder.ts';

test.each([
  [120_000, ['the clock of this machine is behind that of the database']],
  [-120_000, ['the clock of this machine is ahead of that of the database']],
  [1000, []],
])('a server whose database is %d ms ahead has the clock of the database, and says so if its own is wrong', async (ahead, expected) => {
  const log = new LogRecorder();
  const now = await commonClock({ node: { clock: async () => () => Date.now() + ahead } }, log.logger);
  expect(Math.abs(now() - Date.now() - ahead)).toBeLessThan(1000);
  expect(log.entries.map(({ msg }) => msg.split(':')[0])).toEqual(expected);
});

/** A server on the database; only what its own row says of it. */
const node = (name: string, state: Partial<NodeState> = {}): NodeState => ({
  ...{ name, address: `${name}.test:8024`, linkPort: 8025, tlsPort: 8026, version: '1', startedAt: new Date(0), seenAt: new Date(0) },
  ...{ stopped: false, alive: true, draining: false, agents: 0, connections: 0, load: 0, lagMs: 0, unreachableFrom: [] },
  ...state,
});

test('the other servers are those that run, and all of them must have an address, unless they are processes of this one', async () => {
  const others = (nodes: readonly NodeState[], nodeAddress = 'own.test', siblings: readonly string[] = []) =>
    otherServers({ nodes: async () => nodes } as unknown as Store, 'own', new Set(siblings), { nodeAddress }).then((all) => all.map(({ name }) => name));
  const noAddress = { address: '' };
  expect(await others([node('own'), node('ended', { alive: false, ...noAddress }), node('b'), node('c')])).toEqual(['b', 'c']);
  expect(await others([node('own', noAddress), node('ended', { alive: false, ...noAddress })], '')).toEqual([]);
  expect(await others([node('own', noAddress), node('b', noAddress)], '', ['b'])).toEqual(['b']);
  await expect(others([node('b'), node('c')], '', ['b'])).rejects.toThrow('node_address: the server c is running on the database');
  await expect(others([node('b'), node('c', noAddress)])).rejects.toThrow('the server c is running on the database without ADIT_NODE_ADDRESS');
});

describe('a server that joins the others', () => {
  afterEach(() => void jest.useRealTimers());

  /** A server, and what it does with its engine and the database. */
  async function joining(nodes: NodeState[], given: Partial<JoinParts> = {}, silent: readonly string[] = []) {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'performance'] });
    const done: Array<readonly [what: string, ...more: unknown[]]> = [];
    const note = (what: string) => (...more: readonly unknown[]) => void done.push([what, ...more]);
    const state = { leads: true, reached: [] as string[], joinedAt: 0, lookedAt: 0, broken: false };
    const changed: Array<(change: { readonly resource: string }) => void> = [];
    const own = node('own', { draining: true });
    const log = new LogRecorder();
    const store = {
      nodes: async () => nodes,
      leads: () => state.leads,
      follower: { figures: { seq: 0, lagMs: 7 } },
      db: {
        tunnel: {
          async findMany({ where }: { readonly where: object }) {
            note('left')(where);
            return [];
          },
        },
        host: { findMany: async () => [] },
      },
      async forgetRunningState(running: readonly string[]) {
        note('forget')(running);
        if (state.broken) throw new Error('it is away');
      },
      node: {
        own,
        async join(...is: readonly unknown[]) {
          note('join')(...is);
          state.joinedAt = awakeNow();
          return new Date(5000);
        },
        report: async (reported: object) => note('report')({ ...reported, load: 0 }),
        leave: async () => note('leave')(),
      },
    };
    const parts = {
      services: {
        store,
        engine: { clientStates: async () => [] },
        changes: { subscribe: (listener: typeof changed[number]) => void changed.push(listener) },
      },
      engine: {
        served: { agents: 1, connections: 2 },
        nodes: {
          unreached: ['x'],
          open: note('open'),
          useKey: note('key'),
          use(places: ReadonlyArray<{ readonly name: string }>, at: number) {
            note('use')(places);
            state.lookedAt = at;
          },
          links: () => state.reached.map((name) => ({ peer: { name } })),
          acquainted: async (ms: number) => ms === 5000 ? silent : [],
        },
      },
      name: 'own',
      siblings: new Set<string>(),
      bridge: { port: 81, linkPort: 82, tls: { port: 83 } },
      settings: { nodeAddress: 'own.test', bridgeHost: '0.0.0.0' },
      departure: { stopping: true, drain: note('drain') },
      log: log.logger,
      keys: { follow: async (name: string) => note('follow')(name), links: { current: 'current', next: 'next' } },
      onEnd: (error: Error) => note('end')(error instanceof KeyLostError),
      ...given,
    } as unknown as JoinParts;
    const leave = await joinServers(parts);
    const pass = async (ms: number) => {
      jest.advanceTimersByTime(ms);
      for (let turn = 0; turn < 20; turn++) await nextIteration();
      return done.splice(0);
    };
    return { leave, pass, state, log, publish: (resource: string) => changed[0]?.({ resource }) };
  }

  const peer = (name: string) => ({ name, host: `${name}.test`, port: 8025, bridgePort: 8024, tlsPort: 8026 });
  const figures = { load: 0, agents: 1, connections: 2, lagMs: 7, stopping: true, unreached: ['x'] };

  test('says where it is reached, dials those that run, follows the key, and reports', async () => {
    const nodes = [
      node('own'),
      node('b'),
      node('c', { tlsPort: 0 }),
      node('ended', { alive: false }),
      node('d', { address: '[2001:db8::1]:8024', linkPort: 1 }),
      node('e', { linkPort: 0 }),
    ];
    const { leave, pass, publish, state } = await joining(nodes);
    // What the database says of its row may be from when it began to join.
    expect(state.lookedAt).toBeGreaterThan(0);
    expect(state.lookedAt).toBeLessThanOrEqual(state.joinedAt);
    const used = ['use', [peer('own'), peer('b'), { ...peer('c'), tlsPort: 8025 }, { ...peer('d'), host: '2001:db8::1', port: 1 }]];
    const looked = [['follow', 'own'], ['key', 'current', 'next'], used];
    expect(await pass(0)).toEqual([
      ['join', { name: 'own', address: 'own.test:81', linkPort: 82, tlsPort: 83, version }],
      ['open', { host: 'own.test', port: 82, bridgePort: 81, tlsPort: 83 }, 5000],
      ...looked,
      ['forget', ['own', 'b', 'c', 'd', 'e']],
      ['left', { noStore: true, client: { node: { notIn: ['own', 'b', 'c', 'd', 'e'] } } }],
    ]);
    const reported = [['report', figures], ['drain', true], ...looked];
    expect(await pass(3000)).toEqual(reported);
    publish('client');
    expect(await pass(0)).toEqual([]);
    publish('node');
    expect(await pass(0)).toEqual(reported);
    await leave();
    expect(await pass(9000)).toEqual([['leave']]);
  });

  test('clears what those that have ended have left, if it leads, once for each set of those that run or can be reached, and again if that fails', async () => {
    const nodes = [node('own'), node('b')];
    const { pass, state } = await joining(nodes);
    const forgotten = async () => (await pass(3000)).filter(([what]) => what === 'forget').map(([, names]) => names);
    expect(await forgotten()).toEqual([['own', 'b']]);
    nodes[1] = node('b', { alive: false });
    state.reached = ['b'];
    expect(await forgotten()).toEqual([]);
    [state.leads, state.reached] = [false, []];
    expect(await forgotten()).toEqual([]);
    [state.leads, state.broken] = [true, true];
    expect([await forgotten(), await forgotten()]).toEqual([[['own']], [['own']]]);
    state.broken = false;
    expect([await forgotten(), await forgotten()]).toEqual([[['own']], []]);
  });

  test('has processes beside it that are near, whatever their address; alone it opens nothing', async () => {
    const places = async (bridgeHost: string, nodeAddress: string, siblings: readonly string[]) => {
      const { pass } = await joining([node('own', { address: '' }), node('b', { address: '' })], {
        siblings: new Set(siblings),
        settings: { bridgeHost, nodeAddress },
      });
      return (await pass(0)).filter(([what]) => ['join', 'open', 'use'].includes(what));
    };
    const joined = (address: string) => ['join', { name: 'own', address, linkPort: 82, tlsPort: 83, version }];
    const opened = (host: string) => ['open', { host, port: 82, bridgePort: 81, tlsPort: 83 }, 5000];
    const used = (host: string) => ['use', [{ ...peer('b'), host, bridgePort: 81 }]];
    expect(await places('192.0.2.1', '', ['b'])).toEqual([joined(''), opened('127.0.0.1'), used('127.0.0.1')]);
    expect(await places('192.0.2.1', 'own.test', ['b'])).toEqual([joined('own.test:81'), opened('own.test'), used('192.0.2.1')]);
    expect(await places('::', 'own.test', ['b'])).toEqual([joined('own.test:81'), opened('own.test'), used('127.0.0.1')]);
    const { pass } = await joining([node('own', { address: '' })], { settings: { bridgeHost: '::', nodeAddress: '' } });
    expect((await pass(0)).filter(([what]) => what === 'open' || what === 'use')).toEqual([['use', []]]);
    // Another one was started at the same time.
    const both = joining([node('own', { address: '' }), node('b')], { settings: { bridgeHost: '::', nodeAddress: '' } });
    await expect(both).rejects.toThrow('node_address: the server b is running on the database');
  });

  test('says once who cannot reach it, and when all can again; whose agents it does not know yet; and that it has lost the key', async () => {
    const nodes = [node('own'), node('b')];
    const unreachable = (...names: readonly string[]) =>
      node('own', { unreachableFrom: names.map((name) => ({ node: name, since: new Date(0), problem: `refused by ${name}` })) });
    let follow = async (): Promise<void> => {};
    const { pass, log } = await joining(nodes, { keys: { follow: () => follow(), links: { current: '', next: '' } } as unknown as JoinParts['keys'] }, ['b']);
    for (const seen of [[], ['b'], ['b'], ['b', 'c'], [], []]) {
      nodes[0] = unreachable(...seen);
      await pass(3000);
    }
    expect(log.entries.map(({ msg, nodes: names, problem }) => [msg.split(':')[0], names, problem])).toEqual([
      [
        'other servers have not reported their agents yet; their clients seem to be away until then. If that lasts, they cannot reach this one',
        ['b'],
        undefined,
      ],
      ['other servers cannot reach this one', ['b'], 'refused by b'],
      ['other servers cannot reach this one', ['b', 'c'], 'refused by b'],
      ['all other servers can reach this one again', undefined, undefined],
    ]);
    follow = () => Promise.reject(new KeyLostError('/data'));
    expect(await pass(3000)).toContainEqual(['end', true]);
    follow = () => Promise.reject(new Error('it is away'));
    expect((await pass(3000)).filter(([what]) => what === 'end' || what === 'use')).toEqual([]);
  });
});
