import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { Kind, parse } from 'graphql';

const panel = new URL('../../src/panel/', import.meta.url);

test('what a form checks while you pause is not stored', () => {
  const files = readdirSync(panel, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.tsx'));
  const texts = files.flatMap((name) => Array.from(readFileSync(new URL(name, panel), 'utf8').matchAll(/\bgraphql\(`([^`]*)`\)/g), ([, text = '']) => text));
  const checks = texts.flatMap((text) => parse(text).definitions).flatMap((definition) => (
    definition.kind === Kind.OPERATION_DEFINITION && definition.operation === 'mutation' && definition.name?.value.startsWith('Check') ? [definition] : []
  ));
  const names = ['Client', 'Host', 'Tunnel', 'User'].flatMap((record) => [`CheckChanged${record}`, `CheckNew${record}`]);
  expect(checks.map(({ name }) => name?.value ?? '').toSorted()).toEqual([...names, 'CheckSettings'].toSorted());
  for (const { name, selectionSet } of checks) {
    const given = selectionSet.selections.flatMap((field) => field.kind === Kind.FIELD ? field.arguments ?? [] : []);
    const isDry = given.some((argument) => argument.name.value === 'dryRun' && argument.value.kind === Kind.BOOLEAN && argument.value.value);
    expect([name?.value, isDry]).toEqual([name?.value, true]);
  }
});
