import { once } from 'node:events';

/** Called by jest after the last suite: ends what `run-setup.mjs` started. */
export default async function teardown() {
  const child = globalThis.sharedPostgresql;
  if (child === undefined) return;
  child.stdin.end();
  await once(child, 'exit');
}
