import { setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { endChildren } from '../support/child.ts';
import { eachDialect } from '../support/database.ts';
import { sized } from '../support/endurance.ts';
import { falseCounts } from '../support/false-counts.ts';
import { settingsOf, startCommand } from '../support/nps-command.ts';
import { npsClient, npsFolder, npsTunnel } from '../support/nps-folder.ts';
import { removeScratchDirectories } from '../support/scratch.ts';

// Short form: test/store/durability.test.ts

const KILLS = sized(1, 20);
const CLIENTS = sized(300, 3000);

afterEach(endChildren);
afterAll(removeScratchDirectories);

eachDialect('an import that is killed', (databases) => {
  test('leaves the old state or the new one, and can be repeated', async () => {
    const folder = npsFolder({
      clients: Array.from({ length: CLIENTS }, (_, index) => npsClient({ Id: index + 1, Flow: { InletFlow: 5, ExportFlow: 6 } })),
      tasks: Array.from({ length: 3 * CLIENTS }, (_, index) => npsTunnel({ Id: index + 1, Client: { Id: 1 + index % CLIENTS } })),
    });
    const start = (database: Parameters<typeof settingsOf>[0]) => startCommand(['import', 'nps', folder], settingsOf(database));
    const whole = await databases.create();
    let began = performance.now();
    expect(await start(whole).exited).toEqual({ code: 0, signal: null });
    let took = performance.now() - began;

    for (let point = 1; point <= KILLS; point++) {
      const database = await databases.create();
      began = performance.now();
      const child = start(database);
      // No event says how far an import is.
      const killed = await Promise.race([setTimeout(took * point / (KILLS + 1), true), child.exited.then(() => false)]);
      if (!killed) {
        // The first import can take several times as long as the ones after it, when files and code are not yet cached.
        took = performance.now() - began;
        point--;
        continue;
      }
      child.kill('SIGKILL');
      expect((await child.exited).signal).toBe('SIGKILL');
      const store = await database.open();
      const { clients, tunnels, ...others } = {
        clients: await store.db.client.count(),
        tunnels: await store.db.tunnel.count(),
        imported: await store.db.importedRecord.count(),
        audit: await store.db.auditEntry.count({ where: { resource: 'import' } }),
      };
      if (clients === 0) expect({ tunnels, ...others }).toEqual({ tunnels: 0, imported: 0, audit: 0 });
      else expect({ clients, tunnels, ...others }).toEqual({ clients: CLIENTS, tunnels: 3 * CLIENTS, imported: 4 * CLIENTS, audit: 1 });
      expect(await falseCounts(store)).toEqual([]);
      await store.close();
      if (point < KILLS) continue;
      const again = start(database);
      expect(await again.exited).toEqual({ code: 0, signal: null });
      expect(again.output).toMatch(clients === 0 ? /\nImported\.\n/ : /\nNothing to do: /);
    }
  }, 900_000);
});
