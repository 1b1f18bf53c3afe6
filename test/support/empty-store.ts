import type { Store } from '../../src/store/store.ts';

/** Removes every record, so that ids begin at 1 again: quicker than a new database for each test. */
export async function emptyStore({ db, dialect }: Store): Promise<void> {
  if (dialect === 'postgresql') {
    await untilNoDeadlock(() => db.$executeRaw`TRUNCATE "User", "Client", "Tunnel", "Host", "PlatformDomain", "GlobalSettings", "Total", "Session", "ApiToken", "AuditEntry", "TrafficSample" RESTART IDENTITY CASCADE`);
    return;
  }
  await db.$transaction([
    db.host.deleteMany(), db.platformDomain.deleteMany(), db.tunnel.deleteMany(), db.client.deleteMany(), db.user.deleteMany(),
    db.globalSettings.deleteMany(), db.total.deleteMany(), db.session.deleteMany(), db.apiToken.deleteMany(), db.auditEntry.deleteMany(), db.trafficSample.deleteMany(), db.$executeRaw`DELETE FROM sqlite_sequence`,
  ]);
}

/** What the test before left to be written in the background can lock the same tables in another order: one of the two gives way. */
async function untilNoDeadlock(work: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await work();
      return;
    } catch (error) {
      if (attempt === 5 || !(error instanceof Error) || !error.message.includes('deadlock detected')) throw error;
    }
  }
}
