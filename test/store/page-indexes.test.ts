import { beforeAll, expect, test } from '@jest/globals';
import { webNamesakes } from '../../src/schema/access/login.ts';
import { clientSource, type ClientPageQuery } from '../../src/store/hot/client-page.ts';
import { countQuery } from '../../src/store/hot/counts.ts';
import { hostSource, type HostPageQuery } from '../../src/store/hot/host-page.ts';
import { pageQuery } from '../../src/store/hot/page.ts';
import { clientIdsQuery, problemQuery } from '../../src/store/hot/problem-lists.ts';
import { tunnelSource, type TunnelPageQuery } from '../../src/store/hot/tunnel-page.ts';
import { userSource, type UserPageQuery } from '../../src/store/hot/user-page.ts';
import type { TestStore } from '../support/test-store.ts';
import { eitherDialect } from '../support/database.ts';
import { seedClients, seedHosts, seedTunnels, seedUsers } from '../support/seed.ts';
import { statementsOf } from '../support/statements.ts';

const clientPages: ClientPageQuery[] = [false, true].flatMap((desc) => [
  ...(['ID', 'REMARK', 'VERIFY_KEY', 'ENABLED', 'CONNECTED', 'ADDRESS', 'LOCAL_ADDRESS', 'VERSION', 'INLET_BYTES', 'EXPORT_BYTES', 'RATE'] as const)
    .map((orderBy) => ({ orderBy, desc, offset: 0, limit: 10 })),
  ...(['ID', 'REMARK', 'VERIFY_KEY', 'ENABLED', 'CONNECTED'] as const).map((orderBy) => ({ orderBy, ownerId: 1, desc, offset: 0, limit: 10 })),
  { ownerId: null, desc, offset: 0, limit: 10 },
]);
const tunnelPages: TunnelPageQuery[] = [false, true].flatMap((desc) => [
  ...(['ID', 'CLIENT_ID', 'REMARK', 'VERIFY_KEY', 'PORT', 'MODE', 'TARGET', 'PASSWORD', 'ENABLED', 'RUNNING', 'CONNECTED'] as const).flatMap((orderBy) => [
    ...[undefined, 'tcp', 'file'].map((mode) => ({ orderBy, mode, desc, offset: 0, limit: 10 })),
    { orderBy, ownerId: 1, desc, offset: 0, limit: 10 },
  ]),
  { ownerId: null, desc, offset: 0, limit: 10 },
  { clientId: 1, desc, offset: 0, limit: 10 },
  { clientId: 1, mode: 'tcp', desc, offset: 0, limit: 10 },
]);

const hostPages: HostPageQuery[] = [false, true].flatMap((desc) => [
  ...(['ID', 'CLIENT_ID', 'REMARK', 'VERIFY_KEY', 'HOST', 'SCHEME', 'TARGET', 'LOCATION', 'STOPPED', 'CONNECTED'] as const)
    .flatMap((orderBy) => [undefined, 1].map((ownerId) => ({ orderBy, ownerId, desc, offset: 0, limit: 10 }))),
  { clientId: 1, desc, offset: 0, limit: 10 },
  { ownerId: null, desc, offset: 0, limit: 10 },
]);
const userPages: UserPageQuery[] = [false, true].flatMap((desc) =>
  (['ID', 'USERNAME', 'REMARK', 'ENABLED', 'MAX_TUNNELS', 'MAX_CLIENTS', 'CLIENT_COUNT', 'TUNNEL_COUNT', 'EXPIRES_AT', 'CREATED_AT'] as const).map((
    orderBy,
  ) => ({ orderBy, desc, offset: 0, limit: 10 }))
);

/** What the index of a state names; absent = its own name. */
const indexed: Readonly<Record<string, string>> = {
  disabled: 'NOT enabled',
  off: 'enabled AND (NOT expired)',
  neverSeen: 'lastOnlineAt',
  online: 'clientOnline',
  onlineButDisabled: 'NOT enabled',
};

eitherDialect('a page without a search', (databases) => {
  let store: TestStore;

  // Enough rows for PostgreSQL's planner to prefer an index to reading and sorting all.
  beforeAll(async () => {
    store = await databases.openEmpty();
    await store.db.user.create({ data: { username: 'owner', passwordHash: '' } });
    await seedClients(
      store,
      4000,
      (n) => ({ userId: n % 2 === 0 ? 1 : null, enabled: n % 3 === 0, expired: n % 5 === 0, webUsername: n % 10 === 0 ? `web ${n % 100}` : '' }),
    );
    await seedTunnels(store, 1, 6000, (n) => ({ mode: n % 100 === 0 ? 'file' : 'tcp', enabled: n % 3 === 0, clientId: n % 2 === 0 ? 1 : 1 + n % 1000 }));
    await seedHosts(store, 1, 6000, (n) => ({ enabled: n % 3 === 0, clientId: n % 2 === 0 ? 1 : 1 + n % 1000 }));
    await seedUsers(store, 4000, (n) => ({ enabled: n % 3 === 0 }));
    if (store.dialect === 'postgresql') await store.db.$executeRawUnsafe('ANALYZE');
  });

  test.each(clientPages)('of clients is read from an index, not sorted: %j', async (query) => {
    expect(await plan(store, pageQuery(store.dialect, clientSource(query), query))).not.toMatch(/TEMP B-TREE|Sort/);
  });

  test.each(tunnelPages)('of tunnels is read from an index, not sorted: %j', async (query) => {
    expect(await plan(store, pageQuery(store.dialect, tunnelSource(query), query))).not.toMatch(/TEMP B-TREE|Sort/);
  });

  test.each([{}, { ownerId: 1 }].flatMap((scope) =>
    [
      ['Client', scope, 'connected'],
      ['Client', scope, 'off'],
      ['Client', scope, 'expired'],
      ['Client', scope, 'neverSeen'],
      ['Tunnel', scope, 'running'],
      ['Host', scope, 'disabled'],
      ['Host', scope, 'online'],
      ['Host', scope, 'onlineButDisabled'],
      ...(Object.keys(scope).length === 0 ? [['User', scope, 'off'], ['User', scope, 'expired']] as const : []),
    ] as const
  ))('%s %j, counted by %s, is read from an index', async (table, scope, state) => {
    const query = countQuery(store, table, scope, state);
    // Half of the rows match here, so PostgreSQL prefers to read the table: it is only checked that the index exists.
    if (store.dialect === 'sqlite') expect(await plan(store, query)).toMatch(/USING (COVERING )?INDEX/);
    else {expect(
        await store.db.$queryRawUnsafe(`SELECT indexname FROM pg_indexes WHERE tablename = $1 AND indexdef LIKE $2`, table, `%${indexed[state] ?? state}%`),
      ).not.toEqual([]);}
  });

  test.each(hostPages)('of hosts is read from an index, not sorted: %j', async (query) => {
    expect(await plan(store, pageQuery(store.dialect, hostSource(query), query))).not.toMatch(/TEMP B-TREE|Sort/);
  });

  test.each(userPages)('of users is read from an index, not sorted: %j', async (query) => {
    expect(await plan(store, pageQuery(store.dialect, userSource(), query))).not.toMatch(/TEMP B-TREE|Sort/);
  });

  test.each(
    (['away', 'expired', 'expiring', 'trafficUsedUp', 'trafficNearlyUsedUp', 'tunnelsUsedUp', 'closedTunnels', 'expiringUsers'] as const).flatMap((name) =>
      [{}, { ownerId: 1 }].flatMap((scope) => [undefined, { offset: 0, limit: 10 }].map((range) => ({ name, scope, range })))
    ),
  )('of records with problems is read from an index that has only those: %j', async ({ name, scope, range }) => {
    const found = await plan(store, problemQuery(store, name, { scope, moment: new Date(), ...range }));
    expect(found).toMatch(
      /Client_away|Client_expiry|Client_expired_expiresAt|Client_traffic_used|Client_tunnels_used|Tunnel_closed|User_expired_expiresAt|User_pkey|INTEGER PRIMARY KEY/,
    );
    expect(found).not.toMatch(/TEMP B-TREE|Seq Scan/);
  });

  test.each(['broken', 'soon'] as const)(
    'of clients by their problems needs the ids of those with some, which are read from indexes that have only those: %s',
    async (severity) => {
      const found = await plan(store, clientIdsQuery(store, severity, new Date()));
      expect(found).not.toMatch(/Seq Scan|SCAN (Client|Tunnel)(?! USING (COVERING )?INDEX)/);
    },
  );

  test.each([false, true])('of a ranked list is read from the index of the id, without the ranked rows: %s', async (desc) => {
    const query = pageQuery(store.dialect, tunnelSource({ offset: 0 }), { desc, offset: 0, limit: 10 }, '"id"', [3, 5]);
    expect(await plan(store, query)).not.toMatch(/TEMP B-TREE|Sort|Seq Scan/);
  });

  test('of the clients of a web user name is read from an index, in its order', async () => {
    const [text = ''] = (await statementsOf(store, () => webNamesakes(store, 'web 70'))).filter((sent) => sent.includes('webUsername'));
    const found = await plan(store, { text, values: ['web 70', 3, 0] });
    expect(found).toContain('Client_webUsername_id_idx');
    expect(found).not.toMatch(/TEMP B-TREE|Sort|SCAN|Seq/);
  });

  test('of a column without an index would be found out', async () => {
    const source = { ...clientSource({ offset: 0 }), orders: { BASIC_USER: () => '"basicUser"' }, indexed: () => true };
    const query = pageQuery(store.dialect, source, { orderBy: 'BASIC_USER', offset: 0, limit: 10 });
    expect(await plan(store, query)).toMatch(/TEMP B-TREE|Sort/);
  });
});

/** The database's own account of how it would run a query. */
async function plan({ db, dialect }: TestStore, { text, values }: { text: string; values: readonly unknown[] }): Promise<string> {
  const explain = dialect === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN';
  return JSON.stringify(
    await db.$queryRawUnsafe<unknown[]>(`${explain} ${text}`, ...values),
    (_, value: unknown) => typeof value === 'bigint' ? Number(value) : value,
  );
}
