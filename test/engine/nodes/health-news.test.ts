import { expect, test } from '@jest/globals';
import { HealthNews } from '../../../src/engine/nodes/health-news.ts';
import type { HealthMessage } from '../../../src/wire/health.ts';
import { eventually } from '../../support/eventually.ts';

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
