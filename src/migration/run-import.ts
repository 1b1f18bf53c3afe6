import type { Logger } from 'pino';
import type { ImportSet } from '../schema/import/records.ts';
import type { ImportReport } from '../schema/import/report.ts';
import { type ImportFindings, type ImportOptions, importWork } from '../schema/import/run.ts';
import type { SchemaSettings } from '../schema/services.ts';
import { Changes } from '../schema/writes/followed-changes.ts';
import { UnappliedChanges } from '../schema/writes/unapplied-changes.ts';
import { Writes } from '../schema/writes/writes.ts';
import type { Settings } from '../settings/settings.ts';
import { lockDataDir } from '../store/data-lock.ts';
import { failureNote } from '../store/database-failure.ts';
import { ServerRunningError, StoreError } from '../store/errors.ts';
import { openStore } from '../store/store.ts';
import { version } from '../version.ts';
import { importThroughServer } from './through-server.ts';

/** Imports records: into the database, or through the server if one is running on it. @throws {StoreError} */
export async function runImport(set: ImportSet, findings: ImportFindings, options: ImportOptions, settings: Settings, log: Logger): Promise<ImportReport> {
  try {
    return await importDirectly(set, findings, options, settings, log);
  } catch (error) {
    if (error instanceof ServerRunningError) return importThroughServer(set, findings, options, settings);
    throw error;
  }
}

async function importDirectly(set: ImportSet, findings: ImportFindings, options: ImportOptions, settings: Settings, log: Logger): Promise<ImportReport> {
  const { databaseUrl: url, dataDir } = settings;
  const unlock = url === '' ? lockDataDir(dataDir) : undefined;
  try {
    const store = await openStore({ url, dataDir, log, alone: true });
    try {
      const changes = new Changes();
      const writes = new Writes({ store, changes, unapplied: new UnappliedChanges({ store, changes, log }), audited: () => {}, now: Date.now });
      const work = importWork(set, findings, options, { dialect: store.dialect, settings: schemaSettings(settings), now: Date.now });
      return await writes.run({ kind: 'server' }, work, { long: true });
    } catch (error) {
      const note = failureNote(error);
      if (!('code' in note)) throw error;
      throw new StoreError(`the import has failed, because the database has: ${note.reason}. Run the command again`, { cause: error });
    } finally {
      await store.close();
    }
  } finally {
    await unlock?.();
  }
}

/** The settings of the schema, of which an import uses the ports and permissions. */
function schemaSettings(settings: Settings): SchemaSettings {
  const { bridgePort, bridgeTlsPort, vhostHttpPort, vhostHttpsPort, allowLocalProxy, allowPorts, adminUsername, publicUrl, basePath } = settings;
  return {
    version,
    bridge: { port: bridgePort, tls: { port: bridgeTlsPort, fingerprint: '' } },
    hostPorts: { httpPort: vhostHttpPort, httpsPort: vhostHttpsPort },
    allowLocalProxy,
    acmeDirectory: '',
    startedAt: Date.now(),
    allowPorts,
    adminUsername,
    retention: settings,
    publicUrl,
    versionKey: '',
    api: { publicUrl, basePath, ownTls: undefined },
  };
}
