import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, expect, test } from '@jest/globals';
import { testDatabases } from '../support/database.ts';
import { isShort } from '../support/endurance.ts';
import { spawnScript } from '../support/script.ts';

/** In `npm test`, once. */
const rounds = isShort ? [1] : [1, 2, 3];

describe('a process killed while eight writers write', () => {
  const databases = testDatabases('sqlite');

  test('loses nothing that was acknowledged and leaves nothing half done, again and again', async () => {
    const database = await databases.create();
    const acknowledged: string[] = [];
    for (const round of rounds) {
      const child = spawnScript(new URL('./processes/write-until-killed.ts', import.meta.url), [database.dataDir, String(round)]);
      const exited = once(child, 'exit');
      let left = 50 * round;
      for await (const line of createInterface({ input: child.stdout })) {
        acknowledged.push(line);
        if (--left === 0) child.kill('SIGKILL'); // what it still says is acknowledged too
      }
      expect(await exited).toEqual([null, 'SIGKILL']);
    }
    const { db } = await database.open();
    const stored = await db.client.findMany({ select: { vkey: true, tunnels: { select: { remark: true } } } });
    expect(acknowledged.length).toBeGreaterThanOrEqual(50 * rounds.reduce((sum, round) => sum + round));
    const keys = new Set(stored.map(({ vkey }) => vkey));
    expect(acknowledged.filter((vkey) => !keys.has(vkey))).toEqual([]);
    expect(stored.filter(({ vkey, tunnels }) => tunnels[0]?.remark !== vkey)).toEqual([]);
    expect(await db.total.findUnique({ where: { name: 'clients' } })).toEqual({ name: 'clients', value: stored.length });
    expect(await db.$queryRawUnsafe('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  });
});
