import { expect, jest, test } from '@jest/globals';
import { HealthNews, type HealthNewsParts } from '../../../src/engine/nodes/health-news.ts';
import { NO_BYTES } from '../../../src/engine/limits/meter.ts';
import { NodeRequests } from '../../../src/engine/nodes/node-requests.ts';
import { Tunnels } from '../../../src/engine/tunnels/tunnels.ts';
import type { HealthMessage } from '../../../src/wire/health.ts';
import { environmentOf } from '../../support/environment.ts';
import { eventually } from '../../support/eventually.ts';
import { startEngine, tunnelOf } from '../../support/tunnel.ts';
import { hostOf } from '../../support/vhost.ts';

test('a node that is busy gets reports on health when its session has taken the last ones, however many there are', async () => {
  const targets = Array.from({ length: 50 }, (_, index) => ({ target: `127.0.0.1:${index + 1}`, healthy: false, failures: 1, ageMs: 0, error: '' }));
  const report: HealthMessage = { type: 'health', of: 'tunnel', id: 1, targets };
  const news = new HealthNews({ checkedRecords: () => [], healthReports: () => [report] }, () => true);
  const waiting: Array<() => void> = [];
  let sent = 0;
  news.up({
    peer: { name: 'busy', host: '', port: 1, bridgePort: 1 },
    send: () => void sent++,
    whenTaken: (next) => void waiting.push(next),
  });
  for (let clientId = 1; clientId <= 100; clientId++) news.add(clientId, report);
  await eventually(() => waiting.length, (asked) => asked === 1);
  const atOnce = sent;
  expect(atOnce).toBeLessThan(5);
  for (let clientId = 1; clientId <= 100; clientId++) news.add(clientId, report);
  // Longer than the time between reports that are taken at once.
  const until = performance.now() + 200;
  await eventually(() => performance.now(), (now) => now > until);
  expect(sent).toBe(atOnce);
  waiting[0]?.();
  await eventually(() => sent, (count) => count === 2 * atOnce);
  news.stop();
});

/** What a node is sent in each turn, 50 ms each, if its session takes everything: the client, the record, and of which targets. */
function turnsOf(parts: HealthNewsParts, isHome: (clientId: number) => boolean, fill: (news: HealthNews) => void, turns: number): string[][] {
  jest.useFakeTimers();
  try {
    const news = new HealthNews(parts, isHome);
    let sent: string[] = [];
    const peer = { name: 'other', host: '', port: 1, bridgePort: 1 };
    news.up({
      peer,
      send: (message) => {
        if (message.type === 'health') sent.push([message.clientId, message.report.of, message.report.id, message.report.targets.length].join(' '));
      },
      whenTaken: (next) => next(),
    });
    fill(news);
    const seen: string[][] = [];
    for (let turn = 0; turn < turns; turn++) {
      sent = [];
      jest.advanceTimersByTime(turn === 0 ? 1 : 50);
      seen.push(sent);
    }
    news.down('other');
    news.add(1, reportOf('tunnel', 1, 0));
    expect(jest.getTimerCount()).toBe(0);
    return seen;
  } finally {
    jest.useRealTimers();
  }
}

function reportOf(of: HealthMessage['of'], id: number, count: number): HealthMessage {
  return { type: 'health', of, id, targets: Array.from({ length: count }, (_, n) => ({ target: `t:${n}`, healthy: true, failures: 0, ageMs: 0, error: '' })) };
}

test('a node that can be reached gets what the agents of this one have reported, a part in each turn, the clients in round-robin order', () => {
  const records = [
    { of: 'tunnel', id: 1, clientId: 7 },
    { of: 'host', id: 1, clientId: 7 },
    { of: 'tunnel', id: 2, clientId: 8 },
    { of: 'tunnel', id: 3, clientId: 9 },
  ] as const;
  const parts: HealthNewsParts = {
    checkedRecords: (of) => records.filter(({ clientId }) => of(clientId)),
    healthReports: ({ of, id }) => [reportOf(of, id, 50), reportOf(of, id, 49)],
  };
  // 64 KB are two reports of 50 targets, and one more begins.
  expect(turnsOf(parts, (clientId) => clientId !== 9, () => undefined, 4)).toEqual([
    ['7 tunnel 1 50', '8 tunnel 2 50', '7 tunnel 1 49'],
    ['8 tunnel 2 49', '7 host 1 50', '7 host 1 49'],
    [],
    [],
  ]);
});

test('more than 64 reports of a client that wait are replaced by what is known of the record when its turn comes', () => {
  const parts: HealthNewsParts = { checkedRecords: () => [], healthReports: ({ of, id }) => [reportOf(of, id, 3)] };
  const sent = turnsOf(parts, () => true, (news) => {
    for (let nth = 0; nth < 64; nth++) news.add(7, reportOf(nth % 2 === 0 ? 'tunnel' : 'host', 1, nth === 63 ? 2 : 1));
    news.add(8, reportOf('tunnel', 9, 2));
    news.add(7, reportOf('host', 2, 1));
    news.add(7, reportOf('tunnel', 1, 1));
    news.add(7, reportOf('tunnel', 1, 1));
  }, 3);
  const all = sent.flat();
  // Those of the record that is sent whole are no longer needed.
  expect(all).toEqual(['7 host 1 1', '8 tunnel 9 2', ...Array.from({ length: 30 }, () => '7 host 1 1'), '7 host 1 2', '7 host 2 3', '7 tunnel 1 3']);
});

test('the records that a node can report on are the tunnels and the hosts whose targets are checked', async () => {
  const { engine } = await startEngine();
  const environment = environmentOf({ now: () => 1000 });
  const tunnels = new Tunnels(environment);
  const requests = new NodeRequests(environment, tunnels, engine);
  const check = { type: 'tcp', intervalMs: 1, timeoutMs: 2, maxFailed: 3, path: '' } as const;
  for (const [id, clientId] of [[1, 7], [2, 8], [3, 7]] as const) {
    tunnels.add(tunnelOf({ id, clientId, enabled: false, targets: [`tunnel:${id}`] }), NO_BYTES);
    environment.hosts.set(hostOf({ id, clientId, host: `${id}.test`, targets: [`host:${id}`] }));
    if (id === 3) continue;
    const report = (of: HealthMessage['of']): HealthMessage => (
      { type: 'health', of, id, check, targets: [{ target: `${of}:${id}`, healthy: false, failures: id, ageMs: 10, error: 'x' }] }
    );
    tunnels.get(id)?.onHealth(report('tunnel'), 900);
    environment.hosts.onHealth(report('host'), 900);
  }
  expect([...requests.checkedRecords(() => true)]).toEqual(
    [{ of: 'tunnel', id: 1, clientId: 7 }, { of: 'tunnel', id: 2, clientId: 8 }, { of: 'host', id: 1, clientId: 7 }, { of: 'host', id: 2, clientId: 8 }],
  );
  expect([...requests.checkedRecords((clientId) => clientId === 8)].map(({ of, id }) => `${of} ${id}`)).toEqual(['tunnel 2', 'host 2']);
  for (const kind of ['tunnel', 'host'] as const) {
    expect([...requests.healthReports({ of: kind, id: 2 })]).toEqual(
      [{ type: 'health', of: kind, id: 2, check, targets: [{ target: `${kind}:2`, healthy: false, failures: 2, ageMs: 110, error: 'x' }] }],
    );
    // That its checks have ended is all that there is to say.
    for (const id of [3, 4]) expect([...requests.healthReports({ of: kind, id })]).toEqual([{ type: 'health', of: kind, id, check: null, targets: [] }]);
  }
  expect((['client', 'tunnel', 'host'] as const).map((kind) => [requests.clientOf(kind, 2), requests.clientOf(kind, 9)])).toEqual([[2, 9], [8, undefined], [
    8,
    undefined,
  ]]);
});
