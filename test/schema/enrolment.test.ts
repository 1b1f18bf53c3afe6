import { expect, test } from '@jest/globals';
import * as z from 'zod';
import type { Caller } from '../../src/rules/caller.ts';
import { createContext } from '../../src/schema/context.ts';
import { useEnrolment } from '../../src/schema/enrolment/write.ts';
import { eitherDialect } from '../support/database.ts';
import { openTestSchema, type TestSchema } from '../support/schema.ts';

const created = z.object({ createEnrolment: z.object({ code: z.string(), enrolment: z.object({ id: z.coerce.number() }) }) });
const machine = (n: number) => `the secret of machine ${n}`.padEnd(40, '.');

eitherDialect('enrolments', (databases) => {
  let time = Date.now();

  async function world(): Promise<TestSchema> {
    time = Date.now();
    const api = await openTestSchema(databases, {
      publicUrl: 'https://adit.example',
      api: { publicUrl: 'https://adit.example', basePath: '', ownTls: undefined },
    }, () => time);
    await api.ok(
      'mutation { createUser(input: { username: "alice", password: "password" }) { id } createClient(input: { verifyKey: "the key of client 1", ownerId: 1 }) { id } }',
    );
    return api;
  }

  async function create(api: TestSchema, seconds = 60) {
    return created.parse(await api.ok(`mutation { createEnrolment(input: { clientId: 1, expiresInSeconds: ${seconds} }) { code enrolment { id } } }`))
      .createEnrolment;
  }

  const use = (api: TestSchema, code: string, n: number, address = `192.0.2.${n}`) => {
    const caller: Caller = { kind: 'anonymous', address };
    return useEnrolment(createContext(api.services, caller), code, machine(n)).catch((error: unknown) => String(Reflect.get(Object(error), 'code')));
  };
  const given = { clientId: 1, vkey: 'the key of client 1', server: 'adit.example:8025', fingerprint: 'ab'.repeat(32) };
  const refused = 'ENROLMENT_REFUSED';

  test('give the key to the first machine, as often as it asks; of 50 at once to one', async () => {
    const api = await world();
    const { code } = await create(api);
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => use(api, code, n + 1)));
    const winner = answers.findIndex((answer) => answer !== refused);
    expect(answers.filter((answer) => answer !== refused)).toEqual([given]);
    // The right code is no guess.
    for (let n = 0; n < 11; n++) expect(await use(api, code, winner + 1)).toEqual(given);
    expect(await use(api, code, 60)).toBe(refused);
    await create(api);
    const [createdAt, usedAt, expiresAt] = [expect.any(String), new Date(time).toISOString(), new Date(time + 60_000).toISOString()];
    expect(await api.ok('{ enrolments(clientId: 1) { createdAt expiresAt usedAt usedFrom client { id } } }')).toEqual({
      enrolments: [{ createdAt, expiresAt, usedAt: null, usedFrom: null, client: { id: 1 } }, {
        createdAt,
        expiresAt,
        usedAt,
        usedFrom: `192.0.2.${winner + 1}`,
        client: { id: 1 },
      }],
    });
    const entries = await api.services.store.db.auditEntry.findMany({ where: { resource: 'enrolment' }, orderBy: { id: 'asc' } });
    expect(entries.map(({ action, callerKind }) => `${action} by ${callerKind}`)).toEqual(['create by admin', 'update by anonymous', 'create by admin']);
    expect(JSON.stringify(entries)).not.toMatch(new RegExp(`${code}|the key of client 1`));
  });

  test('are refused when they have expired, are revoked, unknown, or their client is disabled; a used one expires, too', async () => {
    const api = await world();
    const [expiring, revoked, used, disabled] = [await create(api), await create(api), await create(api), await create(api, 3600)];
    await api.ok(`mutation { revokeEnrolment(id: ${revoked.enrolment.id}) }`);
    expect(await use(api, used.code, 1)).toEqual(given);
    expect(await use(api, revoked.code, 1)).toBe(refused);
    expect(await use(api, 'adit-enrol_unknown', 2)).toBe(refused);
    time += 60_000;
    expect(await use(api, expiring.code, 3)).toBe(refused);
    expect(await use(api, used.code, 1)).toBe(refused);
    await api.ok('mutation { setClientEnabled(id: 1, enabled: false) { id } }');
    expect(await use(api, disabled.code, 4)).toBe(refused);
  });

  test('end when the key or the owner of their client changes', async () => {
    const api = await world();
    const first = await create(api);
    await api.ok('mutation { updateClient(id: 1, input: { remark: "other", verifyKey: "another key of it" }) { id } }');
    expect(await use(api, first.code, 1)).toBe(refused);
    const second = await create(api);
    await api.ok('mutation { updateClient(id: 1, input: { ownerId: null }) { id } }');
    expect(await use(api, second.code, 2)).toBe(refused);
    expect(await api.ok('{ enrolments(clientId: 1) { id } }')).toEqual({ enrolments: [] });
  });

  test('that end are deleted if nobody used them, and those that can be used again expire; others, and those of other clients, stay as they are', async () => {
    const api = await world();
    const [expired, used, open] = [await create(api, 60), await create(api, 600), await create(api, 600)];
    for (const { code } of [expired, used]) expect(await use(api, code, 1)).toEqual(given);
    time += 100_000;
    await api.ok('mutation { createClient(input: {}) { id } createEnrolment(input: { clientId: 2, expiresInSeconds: 600 }) { code } }');
    const ofOther = () => api.ok('{ enrolments(clientId: 2) { id expiresAt } }');
    const before = await ofOther();
    await api.services.store.db.auditEntry.deleteMany();
    await api.ok('mutation { updateClient(id: 1, input: { verifyKey: "another key of it" }) { id } }');
    const logged = await api.services.store.db.auditEntry.findMany({ where: { resource: 'enrolment' }, orderBy: { id: 'asc' } });
    const expiry = (state: string | null): unknown => state && JSON.parse(state).expiresAt;
    expect(logged.map(({ action, resourceId, before, after }) => [action, resourceId, expiry(before), expiry(after)])).toEqual([
      ['delete', String(open.enrolment.id), new Date(time + 500_000).toISOString(), null],
      ['update', String(used.enrolment.id), new Date(time + 500_000).toISOString(), new Date(time).toISOString()],
    ]);
    expect(before).toEqual({ enrolments: [{ id: expect.anything(), expiresAt: new Date(time + 600_000).toISOString() }] });
    expect(await ofOther()).toEqual(before);
  });

  test('a machine that used a code gets neither a new key nor that of another owner', async () => {
    const api = await world();
    const first = await create(api);
    expect(await use(api, first.code, 1)).toEqual(given);
    await api.ok('mutation { updateClient(id: 1, input: { remark: "other", verifyKey: "another key of it" }) { id } }');
    expect(await use(api, first.code, 1)).toBe(refused);
    const second = await create(api);
    expect(await use(api, second.code, 2)).toMatchObject({ vkey: 'another key of it' });
    await api.ok('mutation { updateClient(id: 1, input: { ownerId: null }) { id } }');
    expect(await use(api, second.code, 2)).toBe(refused);
    expect(await api.ok('{ enrolments(clientId: 1) { usedFrom } }')).toEqual({ enrolments: [{ usedFrom: '192.0.2.2' }, { usedFrom: '192.0.2.1' }] });
  });

  test('stay when something else of their client changes, also of one without an owner', async () => {
    const api = await world();
    await api.ok('mutation { updateClient(id: 1, input: { ownerId: null }) { id } }');
    const { code } = await create(api);
    await api.ok('mutation { updateClient(id: 1, input: { remark: "other" }) { id } }');
    expect(await use(api, code, 1)).toEqual(given);
  });

  test('an address that guesses is locked out, also for the right code; others are not', async () => {
    const api = await world();
    const { code } = await create(api);
    for (let guess = 0; guess < 10; guess++) expect(await use(api, `adit-enrol_${guess}`, 1)).toBe(refused);
    expect(await use(api, code, 1)).toBe(refused);
    expect(await use(api, code, 2)).toEqual(given);
    expect(await api.ok('{ lockouts { kind credential source } }')).toEqual({
      lockouts: expect.arrayContaining([{ kind: 'ADDRESS', credential: 'ENROLMENT', source: '192.0.2.1' }]),
    });
    // However many they are.
    for (let guess = 0; guess < 60; guess++) expect(await use(api, 'adit-enrol_x', 100 + guess)).toBe(refused);
    expect(await use(api, code, 2)).toEqual(given);
  });

  test('a client has at most 20 that can be used, and 100 in all; others have their own', async () => {
    const api = await world();
    await api.ok('mutation { createClient(input: { verifyKey: "the key of client 2" }) { id } createEnrolment(input: { clientId: 2 }) { code } }');
    for (let n = 0; n < 20; n++) await create(api);
    expect(await api.code('mutation { createEnrolment(input: { clientId: 1 }) { code } }')).toBe('ENROLMENT_LIMIT');
    await api.services.store.db.enrolment.updateMany({ where: { id: 2 }, data: { usedAt: new Date(time) } });
    await create(api);
    expect(await api.code('mutation { createEnrolment(input: { clientId: 1 }) { code } }')).toBe('ENROLMENT_LIMIT');
    for (let round = 0; round < 5; round++) {
      time += 61_000;
      for (let n = 0; n < 20; n++) await create(api);
    }
    expect(await api.services.store.db.enrolment.groupBy({ by: ['clientId'], _count: true, orderBy: { clientId: 'asc' } })).toEqual([
      { clientId: 1, _count: 100 },
      { clientId: 2, _count: 1 },
    ]);
    // Of 121, the newest.
    expect(await api.services.store.db.enrolment.aggregate({ where: { clientId: 1 }, _min: { id: true }, _max: { id: true } })).toEqual({
      _min: { id: 23 },
      _max: { id: 122 },
    });
    await api.ok('mutation { createEnrolment(input: { clientId: 2 }) { code } }');
  });

  test('are listed by client, those created last first, at most 100', async () => {
    const api = await world();
    const { db } = api.services.store;
    await db.client.create({ data: { vkey: 'the key of client 2' } });
    for (let n = 1; n <= 103; n++) await db.enrolment.create({ data: { clientId: n % 50 === 0 ? 2 : 1, hash: `hash ${n}`, expiresAt: new Date(time) } });
    const listed = (clientId: number) => api.ok(`{ enrolments(clientId: ${clientId}) { id } }`);
    expect(await listed(2)).toEqual({ enrolments: [{ id: 100 }, { id: 50 }] });
    const all = Array.from({ length: 103 }, (_, n) => 103 - n).filter((id) => id % 50 !== 0);
    expect(await listed(1)).toEqual({ enrolments: all.slice(0, 100).map((id) => ({ id })) });
  });

  test('can be used for an hour, or for a time from a minute to a day', async () => {
    const api = await world();
    const seconds = async (given: string) => {
      const made = z.object({ createEnrolment: z.object({ expiresAt: z.coerce.date(), enrolment: z.object({ expiresAt: z.coerce.date() }) }) });
      const { createEnrolment } = made.parse(
        await api.ok(`mutation { createEnrolment(input: { clientId: 1${given} }) { expiresAt enrolment { expiresAt } } }`),
      );
      expect(createEnrolment.expiresAt).toEqual(createEnrolment.enrolment.expiresAt);
      return (createEnrolment.enrolment.expiresAt.getTime() - time) / 1000;
    };
    expect([await seconds(''), await seconds(', expiresInSeconds: 60'), await seconds(', expiresInSeconds: 86400')]).toEqual([3600, 60, 86_400]);
    for (const wrong of [59, 86_401]) {
      expect(await api.code(`mutation { createEnrolment(input: { clientId: 1, expiresInSeconds: ${wrong} }) { code } }`)).toBe('INVALID_INPUT');
    }
  });
});

const place = { publicUrl: '', basePath: '/base', ownTls: undefined };

eitherDialect('the line that installs an agent', (databases) => {
  async function instructions(api: object, serverUrl: string | null) {
    const schema = await openTestSchema(databases, { api: { ...place, ...api } });
    await schema.ok(
      'mutation ($url: String) { createClient(input: { verifyKey: "the key" }) { id } updateGlobalSettings(input: { serverUrl: $url }) { serverUrl } }',
      { url: serverUrl },
    );
    const answer = z.object({ createEnrolment: z.object({ code: z.string(), command: z.string().nullable(), manualSteps: z.string().nullable() }) });
    const { code, ...rest } =
      answer.parse(await schema.ok('mutation { createEnrolment(input: { clientId: 1 }) { code command manualSteps } }')).createEnrolment;
    return { ...rest, command: rest.command?.replace(code, 'CODE') ?? null };
  }

  test('is given where a machine can trust it: over HTTPS, or with the pin of our own certificate', async () => {
    expect(await instructions({ publicUrl: 'https://panel.example/adit/' }, 'adit.example')).toEqual({
      command: "curl -fsSL 'https://panel.example/adit/agent/install.sh' | sh -s -- CODE",
      manualSteps: null,
    });
    expect(await instructions({ ownTls: { port: 8080, pin: 'sha256//abc=' } }, 'adit.example')).toEqual({
      command: "curl -fsSL --insecure --pinnedpubkey 'sha256//abc=' 'https://adit.example:8080/base/agent/install.sh' | sh -s -- CODE",
      manualSteps: null,
    });
  });

  test('is replaced by the steps and the reason over plain HTTP, or without a name', async () => {
    const plain = await instructions({ publicUrl: 'http://panel.example' }, 'adit.example');
    expect(plain).toMatchObject({
      command: null,
      manualSteps: expect.stringMatching(/not reached over HTTPS[^]*node adit-agent\.mjs agent --server adit\.example:8025/),
    });
    expect(await instructions({ ownTls: { port: 443, pin: '' } }, null)).toMatchObject({
      command: null,
      manualSteps: expect.stringMatching(/public name is not known[^]*node adit-agent\.mjs agent --server SERVER:8025/),
    });
  });
});
