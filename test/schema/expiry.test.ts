import { expect, test } from '@jest/globals';
import { sweepExpiries } from '../../src/schema/writes/expiry-sweep.ts';
import { eitherDialect, type TestDatabases } from '../support/database.ts';
import { openTestSchema, type TestSchema } from '../support/schema.ts';
import { seedClients, seedUsers } from '../support/seed.ts';

const start = Date.UTC(2030, 0, 1);
const minute = 60_000;
const at = (minutes: number) => new Date(start + minutes * minute).toISOString();

/** A schema whose clock the test moves, in minutes. */
async function open(databases: TestDatabases): Promise<TestSchema & { clock: { minutes: number } }> {
  const clock = { minutes: 0 };
  return { ...await openTestSchema(databases, {}, () => start + clock.minutes * minute), clock };
}

const create = (api: TestSchema, input: string) => api.id(`mutation { createClient(input: { ${input} }) { id } }`);
const createUser = (api: TestSchema, input: string) => api.id(`mutation { createUser(input: { password: "the password", ${input} }) { id } }`);
/** Ids and status of all clients, in the order of their status. */
const byStatus = async (api: TestSchema) => (await api.record('{ clients(sort: { field: ENABLED }) { rows { id enabled } } }'))['rows'];
const enabled = (...ids: number[]) => ids.map((id) => ({ id, enabled: true }));
const off = (...ids: number[]) => ids.map((id) => ({ id, enabled: false }));

eitherDialect('an expiry', (databases) => {
  test('is published to engine, subscribers and audit log by the next sweep, once', async () => {
    const api = await open(databases);
    const { services, engine, clock } = api;
    const [mine, other] = [await create(api, `expiresAt: "${at(5)}"`), await create(api, '')];
    const events = services.live.states({ kind: 'admin' }, 'client');
    const audited = services.live.audit({ kind: 'admin' });
    engine.applied.length = 0;
    clock.minutes = 4;
    await sweepExpiries(services);
    expect(engine.applied).toEqual([]);
    clock.minutes = 5;
    await sweepExpiries(services);
    await sweepExpiries(services);
    expect(engine.applied).toMatchObject([{ kind: 'client', client: { id: mine, expiresAt: Date.parse(at(5)) } }]);
    expect((await events.next()).value).toMatchObject({ kind: 'client', id: mine, row: { expired: true } });
    const { value: entry } = await audited.next();
    expect(entry).toMatchObject({
      callerKind: 'server',
      callerId: null,
      method: '',
      address: '',
      resource: 'client',
      resourceId: String(mine),
      action: 'update',
      at: new Date(at(5)),
    });
    expect([entry?.before, entry?.after].map((text) => (/"expired":\w+/.exec(text ?? ''))?.[0])).toEqual(['"expired":false', '"expired":true']);
    expect(await byStatus(api)).toEqual([...off(mine), ...enabled(other)]);
    services.live.close();
  });

  test("of a user passes for all of the user's clients, and is one entry of the audit log", async () => {
    const api = await open(databases);
    const { services, engine, clock } = api;
    const user = await createUser(api, `username: "alice", expiresAt: "${at(5)}"`);
    const [first, other, second] = [await create(api, `ownerId: ${user}`), await create(api, ''), await create(api, `ownerId: ${user}, expiresAt: "${at(3)}"`)];
    const events = services.live.states({ kind: 'admin' }, 'client');
    clock.minutes = 5;
    engine.applied.length = 0;
    await services.store.db.auditEntry.deleteMany();
    await sweepExpiries(services);
    expect([(await events.next()).value?.id, (await events.next()).value?.id]).toEqual([first, second]);
    expect(engine.applied.map((change) => change.kind === 'client' && change.client.id)).toEqual([first, second]);
    expect(await services.store.db.auditEntry.findMany({ select: { resource: true, resourceId: true, callerKind: true } })).toEqual([{
      resource: 'user',
      resourceId: String(user),
      callerKind: 'server',
    }]);
    expect(await byStatus(api)).toEqual([...off(first, second), ...enabled(other)]);
    expect((await api.record('{ users(sort: { field: ENABLED }) { rows { id enabled } } }'))['rows']).toEqual([{ id: user, enabled: false }]);
    services.live.close();
  });

  test("that an edit moves needs no sweep: the order knows at once what has expired, by its own time or its owner's", async () => {
    const api = await open(databases);
    const user = await createUser(api, 'username: "alice"');
    const [first, second, third] = [
      await create(api, `expiresAt: "${at(-1)}"`),
      await create(api, `ownerId: ${user}`),
      await create(api, `ownerId: ${user}, expiresAt: "${at(-1)}"`),
    ];
    const update = (id: number, input: string) => api.ok(`mutation { updateClient(id: ${id}, input: { ${input} }) { id } }`);
    const updateUser = (input: string) => api.ok(`mutation { updateUser(id: ${user}, input: { ${input} }) { id } }`);
    const ended = await createUser(api, `username: "bob", expiresAt: "${at(-1)}"`);
    const expiredUsers = async () => (await api.record('{ users(filter: { expired: true }) { rows { id } } }'))['rows'];
    expect(await expiredUsers()).toEqual([{ id: ended }]);
    expect(await byStatus(api)).toEqual([...off(first, third), ...enabled(second)]);
    const late = await create(api, `ownerId: ${ended}`);
    expect(await byStatus(api)).toEqual([...off(first, third, late), ...enabled(second)]);
    await api.ok(`mutation { deleteClient(id: ${late}) }`);
    const other = await createUser(api, `username: "carol", expiresAt: "${at(9)}"`);
    const just = await create(api, `ownerId: ${other}, expiresAt: "${at(0)}"`);
    await api.ok(`mutation { updateUser(id: ${other}, input: { expiresAt: "${at(8)}" }) { id } }`);
    expect(await byStatus(api)).toEqual([...off(first, third, just), ...enabled(second)]);
    await api.ok(`mutation { deleteClient(id: ${just}) deleteUser(id: ${other}) }`);
    await update(first, `expiresAt: "${at(9)}"`);
    expect(await byStatus(api)).toEqual([...off(third), ...enabled(first, second)]);
    await update(first, 'expiresAt: null, remark: "x"');
    await updateUser(`expiresAt: "${at(-1)}"`);
    expect(await byStatus(api)).toEqual([...off(second, third), ...enabled(first)]);
    expect(await expiredUsers()).toEqual([{ id: user }, { id: ended }]);
    await update(first, `ownerId: ${user}`);
    expect(await byStatus(api)).toEqual(off(first, second, third));
    await updateUser(`expiresAt: "${at(9)}", remark: "x"`);
    expect(await byStatus(api)).toEqual([...off(third), ...enabled(first, second)]);
    await updateUser(`expiresAt: "${at(-1)}"`);
    await api.ok(`mutation { deleteUser(id: ${user}) }`);
    for (const id of [first, second, third]) await api.ok(`mutation { setClientEnabled(id: ${id}, enabled: true) { id } }`);
    expect(await byStatus(api)).toEqual([...off(third), ...enabled(first, second)]);
  });

  test('of many users and clients at the same time is published for each', async () => {
    const api = await open(databases);
    await seedUsers(api.services.store, 3, (n) => ({ expiresAt: new Date(at(n === 3 ? 3 : 1)) }));
    const ids = await seedClients(api.services.store, 250, () => ({ expiresAt: new Date(at(1)) }));
    api.clock.minutes = 2;
    await sweepExpiries(api.services);
    expect(api.engine.applied.map((change) => change.kind === 'client' && change.client.id).toSorted((a, b) => Number(a) - Number(b))).toEqual(ids);
    expect(await api.services.store.db.client.count({ where: { expired: false } })).toBe(0);
    expect((await api.services.store.db.user.findMany({ orderBy: { id: 'asc' } })).map(({ expired }) => expired)).toEqual([true, true, false]);
  });
});
