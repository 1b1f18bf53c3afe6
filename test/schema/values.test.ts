import { describe, expect, test } from '@jest/globals';
import { isScalarType } from 'graphql';
import { AditError } from '../../src/schema/errors.ts';
import { OperationSlots, searchLimits } from '../../src/schema/limits/operation-slots.ts';
import { schema } from '../../src/schema/schema.ts';
import { textOf as codedText } from '../../src/schema/values/coded-text.ts';
import { columnsHaving } from '../../src/schema/values/columns.ts';
import { limitOrNone, neverNull, notEmpty, numberOrNull, textOrNone, textOrNull, withoutNulls } from '../../src/schema/values/empty.ts';
import { idOf } from '../../src/schema/values/ids.ts';
import { ipListOf, limitOf, secretOf, targetsOf, textOf } from '../../src/schema/values/input.ts';
import { Problems } from '../../src/schema/values/problems.ts';
import { stored } from '../../src/schema/values/stored.ts';
import { checkVersion, versionOfValues } from '../../src/schema/values/version.ts';

/** What a check returns, or the code, the field and the reason of its refusal. */
function refusal(check: () => unknown): unknown {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof AditError)) throw error;
    return [error.code, error.params['field'], error.params['reason']];
  }
}
const refused = (field: string, reason: string) => ['INVALID_INPUT', field, reason];

describe('values of inputs', () => {
  test('a text has so many characters at most, of one or two units, and no NUL', () => {
    const check = (value: string | null | undefined, most?: number) => refusal(() => textOf('remark', value, most));
    for (const text of ['', ' a ', 'x'.repeat(255), '\u{1F600}'.repeat(255)]) expect(check(text)).toBe(text);
    for (const text of ['x'.repeat(256), '\u{1F600}'.repeat(256), 'x'.repeat(1000)]) {
      expect(check(text)).toEqual(refused('remark', 'longer than 255 characters'));
    }
    expect([check('xxx', 3), check('xxxx', 3)]).toEqual(['xxx', refused('remark', 'longer than 3 characters')]);
    expect(check('a\0b')).toEqual(refused('remark', 'holds a NUL character'));
    expect([check(null), check(undefined)]).toEqual([undefined, undefined]);
    expect([refusal(() => secretOf('vkey', '')), refusal(() => secretOf('vkey', ' ')), refusal(() => secretOf('vkey', 'x'.repeat(256)))])
      .toEqual([undefined, ' ', refused('vkey', 'longer than 255 characters')]);
  });

  test('a limit below 0 is none', () => {
    expect([5, 1, 0, -1, null, undefined].map((value) => limitOf(value))).toEqual([5, 1, 0, 0, undefined, undefined]);
    expect([1, null, undefined].map((value) => refusal(() => limitOrNone('port', value)))).toEqual([1, 0, undefined]);
    for (const value of [0, -1]) expect(refusal(() => limitOrNone('port', value))).toEqual(refused('port', 'less than 1; null = unlimited'));
  });

  test('a list of addresses is clean, and as long as the caller may have it', () => {
    const list = (kind: 'admin' | 'anonymous', length: number) => refusal(() => ipListOf({ kind }, 'blocklist', ['x'.repeat(length)]));
    const [most, mostOfOthers] = [1024 * 1024, 64 * 1024];
    expect([list('admin', most), list('anonymous', mostOfOthers)]).toEqual(['x'.repeat(most), 'x'.repeat(mostOfOthers)]);
    expect(list('admin', most + 1)).toEqual(refused('blocklist', `longer than ${most} characters`));
    expect(list('anonymous', mostOfOthers + 1)).toEqual(refused('blocklist', `longer than ${mostOfOthers} characters`));
    expect(ipListOf({ kind: 'admin' }, 'blocklist', [' 192.0.2.1 ', '192.0.2.2\n192.0.2.1'])).toBe('192.0.2.2\n192.0.2.1');
    expect([ipListOf({ kind: 'admin' }, 'blocklist', null), ipListOf({ kind: 'admin' }, 'blocklist', [])]).toEqual([undefined, '']);
  });

  test('a malformed target is named by its entry and its first 100 characters', () => {
    const check = (...value: string[]) => refusal(() => targetsOf('targets', value));
    expect([check('a:1', ' b:2\nc:3 ', ''), check(), refusal(() => targetsOf('targets', null))]).toEqual(['a:1\nb:2\nc:3', '', undefined]);
    expect(check('a:1', 'b:2\nnothing', 'nowhere')).toEqual(refused('targets.1', '"nothing" is not host:port'));
    expect(check('x'.repeat(101))).toEqual(refused('targets.0', `"${'x'.repeat(100)}" is not host:port`));
    const lines = (count: number) => Array.from({ length: count }, () => 'ab:1234');
    expect(check(...lines(2048))).toHaveLength(16_383);
    expect(check(...lines(2047), 'abcd:1234')).toEqual(refused('targets', 'longer than 16384 characters'));
    expect(check(...lines(2047), 'abc:1234')).toHaveLength(16_384);
  });

  test('an id is a whole number in its usual spelling', () => {
    for (const id of ['1', '0', '-5', '2147483647', '-2147483647']) expect(idOf('id', id)).toBe(Number(id));
    for (const id of ['', ' 1', '01', '1.5', '1e3', '+1', '-0', 'x', '2147483648', '-2147483648']) {
      expect([id, refusal(() => idOf('id', id))]).toEqual([id, refused('id', 'not an id')]);
    }
    expect([idOf('id', null), idOf('id', undefined)]).toEqual([null, undefined]);
  });

  test('null is none, and an empty text is refused', () => {
    expect([textOrNull(''), textOrNull(' '), numberOrNull(0), numberOrNull(1), numberOrNull(-1)]).toEqual([null, ' ', null, 1, -1]);
    expect([textOrNone('a', 'x'), textOrNone('a', null), textOrNone('a', undefined)]).toEqual(['x', '', undefined]);
    expect(refusal(() => textOrNone('a', ''))).toEqual(refused('a', 'an empty text; null = none'));
    expect(refusal(() => notEmpty('a', '', 'leave it out'))).toEqual(refused('a', 'an empty text; leave it out'));
    expect([notEmpty('a', 'x', ''), notEmpty('a', null, '')]).toEqual(['x', null]);
    expect([neverNull('a', 0), neverNull('a', undefined), refusal(() => neverNull('a', null))])
      .toEqual([0, undefined, refused('a', 'null; leave it out to keep its value')]);
    expect(withoutNulls({ a: null, b: 0, c: '', d: false, e: undefined })).toEqual({ b: 0, c: '', d: false, e: undefined });
  });

  test('columns are those with a flag, a stored text is one of the values, and a text has its parameters', () => {
    const uses = { a: { copied: true, declared: false }, b: { copied: false, declared: true }, c: { copied: true, declared: true } };
    expect([columnsHaving({ a: 1, b: 2, c: 3, d: 4 }, uses, 'copied'), columnsHaving({ a: 1, b: 2 }, uses, 'declared')]).toEqual([{ a: 1, c: 3 }, { b: 2 }]);
    expect(stored(['http', 'https'], 'https')).toBe('https');
    expect(() => stored(['http', 'https'], 'HTTP')).toThrow('the database holds "HTTP", which is none of http, https');
    expect(codedText({ USED: '{used} of {limit}, {used}{none}' }, { code: 'USED', params: { used: 1, limit: 'x' } })).toBe('1 of x, 1');
  });

  test('a version has 16 characters, differs with each value, its order and the key, and is checked if one is expected', () => {
    const versions = [['k', [1, 2]], ['k', [2, 1]], ['k', [1, '2']], ['l', [1, 2]], ['k', [12]]] as const;
    const all = versions.map(([key, values]) => versionOfValues(key, values));
    expect(new Set(all).size).toBe(all.length);
    for (const version of all) expect(version).toMatch(/^[\w-]{16}$/);
    expect(versionOfValues('k', [1, 2])).toBe(all[0]);
    for (const expected of [undefined, null, 'a']) expect(() => checkVersion('client', 'a', expected)).not.toThrow();
    for (const expected of ['', 'b']) {
      expect(() => checkVersion('tunnel', 'a', expected)).toThrow(expect.objectContaining({ code: 'CONFLICT', params: { resource: 'tunnel', version: 'a' } }));
    }
  });

  test('the checks of columns are all run, also behind one that refuses', async () => {
    const problems = new Problems();
    const no = (field: string) => () => {
      throw new AditError('HOST_INVALID', { field });
    };
    expect(problems.columns({ a: () => 1, b: no('b'), c: () => 'x', d: no('d') })).toEqual({ a: 1, b: undefined, c: 'x', d: undefined });
    expect(await problems.later(async () => no('e')())).toBeUndefined();
    expect(await problems.later(async () => 5)).toBe(5);
    expect(problems.error().extensions['problems']).toMatchObject(['b', 'd', 'e'].map((name) => ({ field: `input.${name}` })));
    expect([problems.any, new Problems().any]).toEqual([true, false]);
    expect(() => problems.end()).toThrow('invalid host');
    expect(() => new Problems().end()).not.toThrow();
    expect(() => new Problems().error()).toThrow('nothing was noted');
  });
});

describe('scalars', () => {
  const scalar = (name: string) => {
    const type = schema.getType(name);
    if (!isScalarType(type)) throw new Error(`${name} is no scalar`);
    return type;
  };

  test.each([
    ['Bytes', 0, Number.MAX_SAFE_INTEGER],
    ['BytesPerSecond', 0, Number.MAX_SAFE_INTEGER],
    ['KibPerSecond', 0, 2_147_483_647],
    ['Mebibytes', 0, 2_147_483_647],
    ['Port', 1, 65_535],
  ])('%s is a whole number from %i to %i', (name, least, most) => {
    const { parseValue } = scalar(name);
    for (const value of [least, least + 1, most]) expect(parseValue(value)).toBe(value);
    for (const value of [least - 1, most + 1, 1.5, String(most), null, true]) {
      expect(() => parseValue(value)).toThrow(`${name}: expected a whole number from ${least} to ${most}`);
    }
  });

  test('a number of bytes is shown whatever is stored, a port if it may be one', () => {
    for (const name of ['Bytes', 'BytesPerSecond']) {
      expect([5n, 2n ** 60n, -1, 1.5].map((value) => scalar(name).serialize(value))).toEqual([5, Number.MAX_SAFE_INTEGER, 0, 1]);
    }
    expect([scalar('Port').serialize(1), scalar('KibPerSecond').serialize(7), scalar('Mebibytes').serialize(8)]).toEqual([1, 7, 8]);
    for (const port of [-1, 65_536]) expect(() => scalar('Port').serialize(port)).toThrow('Port');
    expect(() => scalar('JSON').parseValue({})).toThrow('JSON: not taken as input');
    expect(scalar('JSON').serialize({ a: [1] })).toEqual({ a: [1] });
  });

  test('a moment has a zone', () => {
    const { parseValue, serialize } = scalar('DateTime');
    const moments = ['2027-01-31T12:00Z', '2027-01-31t12:00:30z', '2027-01-31T12:00:30.5+02:00', '2027-01-31T12:00:00.123456789Z'];
    expect(moments.map((text) => serialize(parseValue(text)))).toEqual([
      '2027-01-31T12:00:00.000Z',
      '2027-01-31T12:00:30.000Z',
      '2027-01-31T10:00:30.500Z',
      '2027-01-31T12:00:00.123Z',
    ]);
    for (const text of ['2027-01-31', '2027-01-31T12:00', '2027-01-31 12:00Z', '2027-13-31T12:00Z', '2027-01-31T12:00:00.1234567890Z', 'x', 1_800_000_000]) {
      expect(() => parseValue(text)).toThrow('DateTime: expected');
    }
  });
});

describe('slots', () => {
  test.each([['operations', new OperationSlots(), 8], ['searches', new OperationSlots(searchLimits), 1]])(
    'of %s: so many run, 48 wait in their order, and those of other callers do not wait',
    async (_name, slots, running) => {
      const done: number[] = [];
      const begun = await Promise.all(Array.from({ length: running }, () => slots.take('a')));
      const waiting = Array.from({ length: 48 }, (_, n) =>
        slots.take('a').then((end) => {
          done.push(n);
          return end;
        }));
      await expect(slots.take('a')).rejects.toMatchObject({ code: 'TOO_MANY_OPERATIONS' });
      (await slots.take('b'))();
      expect(done).toEqual([]);
      begun[0]?.();
      begun[0]?.(); // once more: no effect
      const end = await waiting[0];
      expect(done).toEqual([0]);
      end?.();
      await waiting[1];
      expect(done).toEqual([0, 1]);
      for (const each of begun.slice(1)) each();
      for (const each of waiting.slice(1)) (await each)();
      expect(done).toEqual(Array.from({ length: 48 }, (_, n) => n));
      const again = await Promise.all(Array.from({ length: running }, () => slots.take('a')));
      for (const each of again) each();
    },
  );
});
