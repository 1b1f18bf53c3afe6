import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { userRow } from '../../src/schema/import/rows.ts';
import { ImportStage } from '../../src/schema/import/stage.ts';
import { Problems } from '../../src/schema/values/problems.ts';
import { schemaSettings } from '../support/schema-settings.ts';

const none = { maxClients: 0, maxTunnels: 0, expiresAt: null, createdAt: null } as const;

test.each([['', /^$/], ['a password', /^\S{20,}$/]])('a user whose password is "%s" is imported with the hash %s', (password, hash) => {
  const user = { kind: 'user', source: '', id: 1, username: 'alice', password, remark: '', enabled: true, tokenHash: '', ...none } as const;
  expect(userRow(new Problems(), user, { settings: schemaSettings, now: 0 }).passwordHash).toMatch(hash);
});

describe('the parts of an import', () => {
  const line = (id: string): string =>
    `${JSON.stringify({ kind: 'platformDomain', source: 'x', id, wildcard: `*.${id}`, certificatePath: '', privateKeyPath: '' })}\n`;
  const taken = (stage: ImportStage, id: string): readonly string[] => stage.take(id).platformDomains.map((domain) => domain.id);
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  test('may end in the middle of a line, and are taken once', () => {
    const stage = new ImportStage();
    const text = line('a') + line('b');
    expect([stage.add('one', text.slice(0, 10)), stage.add('one', text.slice(10, -5))]).toEqual([0, 1]);
    expect(() => stage.take('one')).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
    expect([stage.add('two', text.slice(0, -5)), stage.add('two', text.slice(-5)), taken(stage, 'two'), taken(stage, 'two')]).toEqual([1, 2, ['a', 'b'], []]);
  });

  test('of another import replace them; a wrong line drops all', () => {
    const stage = new ImportStage();
    stage.add('one', line('a'));
    expect([stage.add('two', line('b')), taken(stage, 'one'), taken(stage, 'two')]).toEqual([1, [], ['b']]);
    for (const wrong of ['no JSON\n', '{"kind":"other"}\n', line('c').replace('*.c', '').replace('"wildcard":"",', '')]) {
      stage.add('three', line('a'));
      expect(() => stage.add('three', wrong)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
      expect(taken(stage, 'three')).toEqual([]);
    }
  });

  test.each([
    ['maxClients', 2 ** 31],
    ['maxTunnels', 2 ** 31],
    ['maxTunnels', -1],
    ['id', 2 ** 31],
    ['id', 0],
    ['expiresAt', 1.5],
    ['unknown', 1],
  ])('with a user whose %s is %d, which cannot be stored, are refused by the name of the field', (field, value) => {
    const user = { kind: 'user', source: 'x', id: 1, username: 'alice', password: '', enabled: true, remark: '', tokenHash: '', ...none };
    expect(new ImportStage().add('one', `${JSON.stringify({ ...user, maxClients: 2 ** 31 - 1 })}\n`)).toBe(1);
    expect(() => new ImportStage().add('one', `${JSON.stringify({ ...user, [field]: value })}\n`)).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT', message: expect.stringContaining(field) }),
    );
  });

  test('are at most 128 Mi characters', () => {
    const stage = new ImportStage();
    stage.add('one', line('a'));
    expect(() => stage.add('one', ' '.repeat(128 * 1024 * 1024 - 1))).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
    expect(taken(stage, 'one')).toEqual([]);
  });

  test('are held for ten minutes after the last one', () => {
    const stage = new ImportStage();
    stage.add('one', line('a'));
    jest.advanceTimersByTime(9 * 60_000);
    stage.add('one', line('b'));
    jest.advanceTimersByTime(9 * 60_000);
    expect(stage.add('one', '')).toBe(2);
    jest.advanceTimersByTime(10 * 60_000);
    expect(taken(stage, 'one')).toEqual([]);
  });
});
