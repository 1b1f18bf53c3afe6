import { setTimeout } from 'node:timers/promises';
import { InstallationKeys } from './installation-keys.ts';
import { NodesError } from './own-server.ts';
import { createLogs } from './log.ts';
import { invitationOf } from './settings/installation-key.ts';
import { readSettings, type SettingsInput } from './settings/load.ts';
import { SettingsError } from './settings/settings-error.ts';
import { openStore } from './store/store.ts';

/** How long the servers may take, in ms: each looks every 3 s. */
const MOST_MS = 30_000;
const LOOK_MS = 200;

/**
 * Changes the key of the installation while its servers run.
 * @returns what was done, for the operator
 * @throws {SettingsError} if the settings are invalid, or if this data directory does not have the key of the installation
 * @throws {NodesError} if a server does not take the new key; both keys count until it does, or is stopped
 */
export async function rotateKey(input: SettingsInput): Promise<string> {
  const { settings } = readSettings(input);
  const { dataDir, databaseUrl: url, invitation } = settings;
  if (url === '') throw new SettingsError(['database_url: a server with SQLite shares no key with others']);
  invitationOf(dataDir);
  const logs = createLogs(settings);
  const store = await openStore({ url, dataDir, log: logs('store') });
  try {
    const keys = await InstallationKeys.open({ store, dataDir, invitation, log: logs('server') });
    await keys.begin();
    const until = performance.now() + MOST_MS;
    for (;;) {
      const missing = await keys.follow();
      if (missing === undefined) return 'The key of the installation was changed. Invitations that were printed before no longer work.\n';
      if (performance.now() > until) {
        throw new NodesError(
          `these servers do not take the new key: ${missing.join(', ')}. The key is changed as soon as they do, or are stopped; until then both count`,
        );
      }
      await setTimeout(LOOK_MS);
    }
  } finally {
    await store.close();
  }
}
