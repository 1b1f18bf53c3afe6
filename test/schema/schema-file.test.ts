import { readFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { buildSchema, type GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql';
import { schema } from '../../src/schema/schema.ts';
import { breakingChanges } from '../support/schema-changes.ts';

test('schema.graphql is up to date; `npm run schema` writes it', async () => {
  const file = await readFile(new URL('../../src/schema/schema.graphql', import.meta.url), 'utf8');
  // Types are in the order in which their modules were loaded, which suites before this one in the same process may have changed.
  const sorted = (of: GraphQLSchema): string => printSchema(lexicographicSortSchema(of));
  expect(sorted(buildSchema(file))).toBe(sorted(schema));
});

test("everything in the last release's schema is unchanged, or was deprecated in it and is removed", async () => {
  // The schema of the last release; docs/api.md says when it is replaced. The rule begins with 0.2: until that is released, this file is a copy of the current schema.
  expect(breakingChanges(await readFile(new URL('released.graphql', import.meta.url), 'utf8'), schema)).toEqual([]);
});

describe('from one release to the next', () => {
  const before = `
    type Query { kept(old: Int @deprecated, arg: Int): Int, gone: Gone @deprecated(reason: "use kept"), list(filter: Filter): Color, stays: Int @deprecated }
    type Gone { inner: Inner }
    type Inner { id: ID }
    type Other { id: ID }
    input Filter { old: Int @deprecated, field: Int }
    enum Color { RED, GREY @deprecated }
  `;
  const after = (changes: Readonly<Record<string, string>> = {}) =>
    breakingChanges(before, buildSchema(Object.entries(changes).reduce((text, [from, to]) => text.replace(from, to), before)));

  test('what was deprecated may be removed, with the types that only it used', () => {
    expect(after()).toEqual([]);
    expect(
      after({
        'old: Int @deprecated, arg': 'arg',
        'gone: Gone @deprecated(reason: "use kept"),': '',
        'type Gone { inner: Inner }': '',
        'type Inner { id: ID }': '',
        'old: Int @deprecated, field': 'field',
        ', GREY @deprecated': '',
      }),
    ).toEqual([]);
    expect(after({ ', GREY @deprecated': ', GREEN' })).toEqual([]);
  });

  test.each([
    ['a field', { ', list(filter: Filter): Color': '' }, ['Query.list was removed.']],
    ['an argument', { ', arg: Int': '' }, ['Query.kept arg arg was removed.']],
    ['an input field', { 'field: Int': '' }, ['Filter.field was removed.']],
    ['a value', { 'RED, ': '' }, ['RED was removed from enum type Color.']],
    ['a type', { 'type Other { id: ID }': '' }, ['Other was removed.']],
    ['the field of a type that only a deprecated field uses', { 'type Inner { id: ID }': 'type Inner { name: ID }' }, ['Inner.id was removed.']],
  ])('%s that was not deprecated must stay', (_what, changes, found) => {
    expect(after(changes)).toEqual(expect.arrayContaining(found));
  });

  test('what was deprecated must not change while it is there', () => {
    expect(after({ 'stays: Int': 'stays: String' })).toEqual(['Query.stays changed type from Int to String.']);
  });
});
