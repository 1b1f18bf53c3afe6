import { expect, test } from '@jest/globals';
import type { Caller } from '../../src/rules/caller.ts';
import { AgentDeclarations } from '../../src/schema/writes/agent-records.ts';
import { eitherDialect } from '../support/database.ts';
import { declaredTunnelOf } from '../support/declared-entries.ts';
import { openTestSchema, type TestSchema } from '../support/schema.ts';

const create = 'mutation ($input: CreateTunnelInput!) { createTunnel(input: $input) { id } }';
const update = 'mutation ($id: ID!, $input: UpdateTunnelInput!) { updateTunnel(id: $id, input: $input) { id } }';
const targets = ['127.0.0.1:80'];

async function world(api: TestSchema) {
  const { id: userId } = await api.services.store.db.user.create({ data: { username: 'alice', passwordHash: '' } });
  const client = (input: object) => api.id('mutation ($input: CreateClientInput!) { createClient(input: $input) { id } }', { input });
  const [hers, free] = [await client({ ownerId: userId }), await client({})];
  await api.ok(create, { input: { clientId: free, mode: 'SECRET', password: 'taken', targets } });
  const alice = { kind: 'user', userId, address: '192.0.2.1' } satisfies Caller;
  const made = (password: string, caller: Caller = alice) =>
    api.run(create, { input: { clientId: hers, mode: 'P2P', password: password || null, targets } }, caller);
  const message = async (password: string, caller?: Caller) => (await made(password, caller)).errors[0]?.message;
  return { hers, free, alice, message };
}

eitherDialect('passwords of secret and p2p tunnels', (databases) => {
  test('that are in use are named as such ten times a minute; then every one is, and the guesses are listed and freed', async () => {
    let now = Date.now();
    const api = await openTestSchema(databases, {}, () => now);
    const { hers, alice, message } = await world(api);
    expect(await message('free')).toBeUndefined();
    for (let guess = 0; guess < 10; guess++) expect(await message('taken')).toBe('secret mode keys taken must be unique');
    expect(await message('also free')).toBe('secret mode keys also free must be unique');
    // One that the server chooses is no guess, and nobody else at the address has to wait.
    expect(await message('')).toBeUndefined();
    const { id: other } = await api.services.store.db.user.create({ data: { username: 'bob', passwordHash: '' } });
    const theirs = await api.id('mutation ($input: CreateClientInput!) { createClient(input: $input) { id } }', { input: { ownerId: other } });
    expect(
      await api.code(create, { input: { clientId: theirs, mode: 'SECRET', password: 'free too', targets } }, {
        kind: 'user',
        userId: other,
        address: '192.0.2.1',
      }),
    ).toBeUndefined();
    // Other tunnels, and edits that keep the password, go on.
    expect(await api.code(create, { input: { clientId: hers, mode: 'TCP', targets } }, alice)).toBeUndefined();
    expect(await api.code(update, { id: 2, input: { remark: 'x', password: 'free' } }, alice)).toBeUndefined();
    expect(await api.code(update, { id: 2, input: { password: 'x' } }, alice)).toBe('TUNNEL_KEY_DUPLICATE');
    const elsewhere: Caller = { ...alice, address: '192.0.2.2' };
    expect(await message('free elsewhere', elsewhere)).toBeUndefined();
    const locked = () => api.ok('{ lockouts { credential kind source } }');
    expect(await locked()).toEqual({ lockouts: [{ credential: 'TUNNEL_PASSWORD', kind: 'ADDRESS', source: `192.0.2.1#user-${alice.userId}` }] });
    // Other servers are notified, in a message of limited size.
    const notified: string[] = [];
    api.services.attempts.share({ failed: () => undefined, freed: ({ source }) => notified.push(source) });
    const tooLong = await api.run('mutation ($source: String!) { freeLockout(kind: NAME, source: $source) }', { source: 'x'.repeat(256) });
    expect(tooLong.errors).toMatchObject([{
      code: 'INVALID_INPUT',
      message: 'invalid source: longer than 255 characters',
      extensions: { field: 'source', most: 255 },
    }]);
    const free = (kind: string) => api.ok(`mutation { freeLockout(kind: ${kind}, source: "192.0.2.1#user-1") }`);
    expect(await free('NAME')).toEqual({ freeLockout: false });
    notified.length = 0;
    expect(await free('ADDRESS')).toEqual({ freeLockout: true });
    expect(notified).toEqual(['192.0.2.1#user-1']);
    expect(await free('ADDRESS')).toEqual({ freeLockout: false });
    expect(await message('also free')).toBeUndefined();
    now += 61_000;
    expect(await locked()).toEqual({ lockouts: [] });
  });

  test('are guessed no faster from many addresses, by edits, by copies, or by a tunnel of another mode first', async () => {
    const api = await openTestSchema(databases);
    const { hers, alice, message } = await world(api);
    const [own, tcp] = [
      await api.id(create, { input: { clientId: hers, mode: 'SECRET', password: 'own', targets } }),
      await api.id(create, { input: { clientId: hers, mode: 'TCP', password: 'taken', targets } }),
    ];
    let refused = 0;
    for (let guess = 0; guess < 60; guess++) {
      const caller = { ...alice, address: `192.0.2.${guess}` };
      const code = guess % 2 === 0
        ? await api.code(update, { id: own, input: { password: 'taken' } }, caller)
        : await api.code(update, { id: tcp, input: { mode: 'SECRET' } }, caller);
      if (code === 'TUNNEL_KEY_DUPLICATE') refused++;
    }
    expect(refused).toBe(60);
    expect(await message('free', { ...alice, address: '198.51.100.1' })).toBe('secret mode keys free must be unique');
    expect(api.services.attempts.lockouts(Date.now())).toMatchObject([{ credential: 'tunnelPassword', kind: 'name' }]);
  });

  test('of the caller may be copied into the known answer, and administrators are not slowed', async () => {
    const api = await openTestSchema(databases);
    const { hers, free, alice, message } = await world(api);
    const own = await api.id(create, { input: { clientId: hers, mode: 'SECRET', password: 'own', targets } });
    for (let turn = 0; turn < 12; turn++) {
      expect(await api.code('mutation ($id: ID!) { copyTunnel(id: $id) { id } }', { id: own }, alice)).toBe('TUNNEL_KEY_DUPLICATE');
      expect(await api.code(create, { input: { clientId: free, mode: 'SECRET', password: 'taken', targets } })).toBe('TUNNEL_KEY_DUPLICATE');
    }
    expect(await message('still free')).toBeUndefined();
  });

  test('are throttled even if they are free, for all clients of a user together; passwords that the owner had before do not count', async () => {
    let now = Date.now();
    const api = await openTestSchema(databases, {}, () => now);
    const { hers, alice } = await world(api);
    const second = await api.id('mutation ($input: CreateClientInput!) { createClient(input: $input) { id } }', { input: { ownerId: alice.userId } });
    const own = await api.id(create, { input: { clientId: hers, mode: 'SECRET', password: 'own', targets } });
    const change = (password: string, caller: Caller = alice) => api.code(update, { id: own, input: { password } }, caller);
    for (const password of ['had', 'has']) expect(await change(password)).toBeUndefined();
    // As 998 of them of them would, without the writes.
    const { chosenKeys } = api.services.attempts;
    while (chosenKeys.mayChoose(`user ${alice.userId}`, 'any', now));
    for (let n = 0; n < 11; n++) expect(await change('one more')).toBe('TUNNEL_KEY_DUPLICATE');
    // They do not count as guesses.
    expect(await change('had')).toBeUndefined();
    const records = new AgentDeclarations(api.services).open(second, '198.51.100.1');
    const declare = async (password: string) =>
      (await records.declare({ kind: 'tunnel', name: 't', tunnel: declaredTunnelOf({ mode: 'secret', targets, password }) })).error;
    expect(await declare('another')).toBe('secret mode keys another must be unique');
    expect(await declare('has')).toBe('');
    now += 1000;
    expect([await change('one more'), await change('two more')]).toEqual([undefined, 'TUNNEL_KEY_DUPLICATE']);
  });

  test('are not guessed by declarations of an agent either', async () => {
    const api = await openTestSchema(databases);
    const { hers } = await world(api);
    const records = new AgentDeclarations(api.services).open(hers, '192.0.2.9');
    const declare = async (name: string, password: string) =>
      (await records.declare({ kind: 'tunnel', name, tunnel: declaredTunnelOf({ mode: 'secret', targets, password }) })).error;
    for (let guess = 0; guess < 10; guess++) expect(await declare(`t${guess}`, 'taken')).toBe('secret mode keys taken must be unique');
    expect(await declare('t', 'nobody has it')).toBe('secret mode keys nobody has it must be unique');
  });
});
