import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { isEnumType, isInputObjectType, isObjectType, printSchema } from 'graphql';
import { schema } from '../../src/schema/schema.ts';

test('schema.graphql is the schema; `npm run schema` writes it anew', async () => {
  const file = await readFile(new URL('../../src/schema/schema.graphql', import.meta.url), 'utf8');
  expect(file).toBe(`${printSchema(schema)}\n`);
});

test('every type, field, argument and value says what it is', () => {
  const silent: string[] = [];
  const look = (name: string, { description }: { readonly description?: string | null }) => {
    if (!description) silent.push(name);
  };
  const builtIn = /^(__|(Int|String|Boolean|Float|ID)$)/;
  for (const type of Object.values(schema.getTypeMap()).filter(({ name }) => !builtIn.test(name))) {
    look(type.name, type);
    if (isEnumType(type)) for (const value of type.getValues()) look(`${type.name}.${value.name}`, value);
    if (isInputObjectType(type)) for (const field of Object.values(type.getFields())) look(`${type.name}.${field.name}`, field);
    if (isObjectType(type)) {
      for (const field of Object.values(type.getFields())) {
        look(`${type.name}.${field.name}`, field);
        for (const arg of field.args) look(`${type.name}.${field.name}(${arg.name})`, arg);
      }
    }
  }
  expect(silent).toEqual([]);
});
