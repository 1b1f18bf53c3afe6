import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { buildSchema, findBreakingChanges, findDangerousChanges, type GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql';
import { schema } from '../../src/schema/schema.ts';

/** Changes since the last release that break no client that follows docs/api.md: new values of enums, new optional arguments and input fields. */
const allowed = { has: (description: string) => /^(.+ was added to enum type|An optional (arg|field) .+ was added)/.test(description) };

test('schema.graphql is up to date; `npm run schema` writes it', async () => {
  const file = await readFile(new URL('../../src/schema/schema.graphql', import.meta.url), 'utf8');
  // Types are in the order in which their modules were loaded, which suites before this one in the same process may have changed.
  const sorted = (of: GraphQLSchema): string => printSchema(lexicographicSortSchema(of));
  expect(sorted(buildSchema(file))).toBe(sorted(schema));
});

test('everything in the last release\'s schema is unchanged; unwanted elements are deprecated', async () => {
  // The schema of the last release; docs/api.md says when it is replaced.
  const released = buildSchema(await readFile(new URL('released.graphql', import.meta.url), 'utf8'));
  const changes = [...findBreakingChanges(released, schema), ...findDangerousChanges(released, schema)];
  expect(changes.map(({ description }) => description).filter((description) => !allowed.has(description))).toEqual([]);
});
