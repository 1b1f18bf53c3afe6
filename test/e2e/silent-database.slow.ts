import { once } from 'node:events';
import net from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { testDatabases } from '../support/database.ts';
import { startServer } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';

// Short form: test/store/busy-database.test.ts

const relays: net.Server[] = [];
afterEach(() => {
  for (const relay of relays.splice(0)) relay.close();
});

/** A database that accepts connections but answers only the first ones, as one that is frozen in the middle of a start. */
async function silentAfter(answered: number, url: string) {
  const socket = `${new URL(url).searchParams.get('host')}/.s.PGSQL.5432`;
  let accepted = 0;
  const relay = net.createServer((visitor) => {
    visitor.on('error', () => {});
    if (++accepted > answered) return void visitor.resume();
    const database = net.connect(socket);
    database.on('error', () => visitor.destroy());
    visitor.pipe(database).pipe(visitor);
  });
  relays.push(relay);
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  const bound = relay.address();
  if (bound === null || typeof bound === 'string') throw new Error('the relay listens on a port');
  return { url: `postgresql://postgres:a-password@127.0.0.1:${bound.port}${new URL(url).pathname}`, place: `127.0.0.1:${bound.port}${new URL(url).pathname}` };
}

describeWith('initdb', 'a start on a database that accepts connections but does not answer', () => {
  const databases = testDatabases('postgresql');

  // The second one migrates; then come those of the pool.
  test.each([0, 1, 2])('ends with one line that names the database, if it answers the first %i connections', async (answered) => {
    const { url, place } = await silentAfter(answered, (await databases.create()).url);
    const failed = startServer({ environment: { ADIT_DATABASE_URL: url, ADIT_NODE_ADDRESS: '127.0.0.1' } }).then(() => '', String);
    const output = await failed;
    expect(output).toContain('{"code":1,"signal":null}');
    const lines = output.split('\n').filter((line) => line.startsWith('adit: '));
    expect(lines).toEqual([expect.stringContaining(`can't reach the database at ${place}: `)]);
    expect(lines[0]).toMatch(/; check that PostgreSQL runs and answers there, and the setting database_url$/);
    expect(output).not.toMatch(/\n {4}at .*(dist|node:)|a-password|tried again each second/);
  });
});
