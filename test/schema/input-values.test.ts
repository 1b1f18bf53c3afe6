import { expect, test } from '@jest/globals';
import type { Caller } from '../../src/rules/caller.ts';
import { AditError } from '../../src/schema/errors.ts';
import { ipListOf, limitOf, secretOf, targetsOf, textOf } from '../../src/schema/values/input.ts';

const admin: Caller = { kind: 'admin' };
const user: Caller = { kind: 'user', userId: 1 };

function thrown(check: () => unknown): unknown {
  try {
    return check();
  } catch (error) {
    return error instanceof AditError ? { code: error.code, ...error.params } : error;
  }
}

test('null and nothing are not given; texts stay as they are, and a blank secret is not given', () => {
  for (const value of [null, undefined]) {
    expect([textOf('a', value), secretOf('a', value), limitOf(value), ipListOf(admin, 'a', value), targetsOf('a', value)]).toEqual(Array(5).fill(undefined));
  }
  expect([textOf('a', ''), textOf('a', ' b '), secretOf('a', ''), secretOf('a', ' ')]).toEqual(['', ' b ', undefined, ' ']);
  expect([limitOf(-1), limitOf(0), limitOf(7)]).toEqual([0, 0, 7]);
  expect([ipListOf(user, 'a', []), targetsOf('a', [])]).toEqual(['', '']);
});

test('a length counts characters, not units; NUL is refused', () => {
  expect(textOf('a', '\u{1F600}'.repeat(255))).toHaveLength(510);
  for (const value of ['x'.repeat(256), '\u{1F600}'.repeat(256), `x${'\u{1F600}'.repeat(255)}`, 'x'.repeat(511)]) {
    expect(thrown(() => secretOf('a', value))).toEqual({ code: 'INVALID_INPUT', field: 'a', reason: 'longer than 255 characters', most: 255 });
  }
  expect(thrown(() => textOf('a', 'xyz', 2))).toMatchObject({ reason: 'longer than 2 characters', most: 2 });
  expect(thrown(() => textOf('b', 'x\0y'))).toEqual({ code: 'INVALID_INPUT', field: 'b', reason: 'holds a NUL character' });
});

test("an administrator's list of addresses may have 1 MB, others' 64 KB; it is cleaned first", () => {
  const list = ['x'.repeat(65_536 - 8), '1.2.3.4', ' 1.2.3.4\r\n\n'];
  expect(ipListOf(user, 'a', list)).toBe(`${list[0]}\n1.2.3.4`);
  for (const other of [user, { kind: 'client', clientId: 1 } as const]) {
    expect(thrown(() => ipListOf(other, 'a', [...list, '1']))).toMatchObject({ field: 'a', most: 65_536 });
  }
  expect(ipListOf(admin, 'a', [...list, '1'])).toBe(`${list[0]}\n1.2.3.4\n1`);
  expect(ipListOf(admin, 'a', ['x'.repeat(1_048_576)])).toHaveLength(1_048_576);
  expect(thrown(() => ipListOf(admin, 'a', ['x'.repeat(1_048_577)]))).toMatchObject({ field: 'a', most: 1_048_576 });
});

test('targets are lines; an invalid one is named by the entry that it is in', () => {
  expect(targetsOf('input.targets', ['a:1\r\n [::1]:2 ', '', '3'])).toBe('a:1\n[::1]:2\n3');
  const long = `${'y'.repeat(120)}:z`;
  expect(thrown(() => targetsOf('input.targets', ['a:1', 'b:2\nnone\nc:3', 'none', 'other']))).toEqual({
    code: 'INVALID_INPUT',
    field: 'input.targets.1',
    reason: '"none" is not host:port',
    line: 'none',
  });
  expect(thrown(() => targetsOf('targets', ['a:1', 'b:2', long]))).toEqual({
    code: 'INVALID_INPUT',
    field: 'targets.2',
    reason: `"${long.slice(0, 100)}" is not host:port`,
    line: long.slice(0, 100),
  });
  const most = Array.from({ length: 2340 }, () => 'a:1234').join('\n');
  expect(targetsOf('targets', [most, '345'])).toHaveLength(16_384 - 1);
  expect(thrown(() => targetsOf('targets', [most, '34567']))).toMatchObject({ field: 'targets', most: 16_384 });
});
