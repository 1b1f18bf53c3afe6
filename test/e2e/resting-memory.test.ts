import { expect, test } from '@jest/globals';
import { residentBytes } from '../support/observe.ts';
import { call } from '../support/processes.ts';
import { serve } from '../support/served.ts';

const MB = 1024 * 1024;

/** docs/performance.md ("Memory") has measured values. The bounds leave room for other machines, but not for the larger query compiler, or a worker for long reads from the start. */
test('a server with one client takes at most 155 MB, its agent 72 MB', async () => {
  const { server, agent } = await serve('127.0.0.1:1');
  expect(await call(server, '/client/list/', { limit: 10 })).toMatchObject({ total: 1 });
  expect(residentBytes(server.child)).toBeLessThan(155 * MB);
  expect(residentBytes(agent)).toBeLessThan(72 * MB);
});
