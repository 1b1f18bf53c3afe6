import { expect, test } from '@jest/globals';
import { measureComeback } from '../support/comeback.ts';
import { sized } from '../support/endurance.ts';

// Short form: test/e2e/lost-agent.test.ts

/** Of the goals on a machine that does nothing else: 200 agents in 10 s, 1,000 in 30 s. */
const crowds = sized<[number, number, number, number, boolean][]>(
  [[100, 2, 2000, 10_000, false]],
  [[200, 2, 30_000, 10_000, false], [1000, 4, 30_000, 30_000, false], [1000, 4, 30_000, 30_000, true]],
);

test.each(crowds)('%i agents in %i processes are back after an outage of %i ms, in %i ms, over TLS: %s', async (agents, processes, outageMs, withinMs, tls) => {
  const { p99, longestHold } = await measureComeback({ agents, processes, outageMs, tls });
  expect(p99).toBeLessThan(withinMs);
  // The start of the server itself, before it answers, is not what is measured; a busy machine makes caches cold.
  expect(longestHold).toBeLessThan(sized(500, 25));
});
