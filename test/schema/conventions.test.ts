import { describe, expect, test } from '@jest/globals';
import {
  getNamedType,
  getNullableType,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLOutputType,
  isEnumType,
  isInputObjectType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { schema } from '../../src/schema/schema.ts';

/** Something of the schema that has a description: a type, a field, an argument, an input field or an enum value. */
interface Element {
  /** Such as `Client.tunnels(limit)`. */
  readonly path: string;
  readonly name: string;
  readonly description: string;
  readonly type?: GraphQLInputType | GraphQLOutputType;
}

const own = (type: GraphQLNamedType) => !/^(__|(Int|String|Boolean|Float|ID)$)/.test(type.name);
const types = Object.values(schema.getTypeMap()).filter(own);

function elementsOf(type: GraphQLNamedType): Element[] {
  const element = (
    path: string,
    { name, description, type: of }: { readonly name: string; readonly description?: string | null; readonly type?: Element['type'] },
  ): Element => ({ path, name, description: description ?? '', ...(of && { type: of }) });
  const below = isEnumType(type)
    ? type.getValues().map((value) => element(`${type.name}.${value.name}`, value))
    : isInputObjectType(type)
    ? Object.values(type.getFields()).map((field) => element(`${type.name}.${field.name}`, field))
    : isObjectType(type)
    ? Object.values(type.getFields()).flatMap((field) => [
      element(`${type.name}.${field.name}`, field),
      ...field.args.map((arg) => element(`${type.name}.${field.name}(${arg.name})`, arg)),
    ])
    : [];
  return [element(type.name, { name: type.name, description: type.description }), ...below];
}

const elements = types.flatMap(elementsOf);
const pathsOf = (wrong: (element: Element) => boolean) => elements.filter(wrong).map(({ path }) => path);
const namedType = ({ type }: Element) => type && getNamedType(type).name;

describe('the schema', () => {
  test('describes every type, field, argument, input field and enum value with a sentence of its own', () => {
    expect(pathsOf(({ description }) => description === '')).toEqual([]);
  });

  test('uses null for none and unlimited, never 0 or an empty text', () => {
    expect(pathsOf(({ description }) => /\bblank\b|\b0 =|\bempty (text|string) =|'' =/i.test(description))).toEqual([]);
  });

  test('has upper-case enum values', () => {
    expect(
      types.filter(isEnumType).flatMap((type) => type.getValues().map(({ name }) => `${type.name}.${name}`)).filter((path) =>
        !/\.[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/.test(path)
      ),
    ).toEqual([]);
  });

  test('has ids of type ID, in answers, arguments and inputs', () => {
    const isId = (name: string) => name === 'id' || name.endsWith('Id');
    expect(pathsOf((element) => element.type !== undefined && isId(element.name) && namedType(element) !== 'ID')).toEqual([]);
    // What is deleted or ended answers its id.
    const ends = Object.values(schema.getMutationType()?.getFields() ?? {}).filter(({ name }) => /^(delete|revoke|close)[A-Z]/.test(name));
    expect(ends.filter(({ type }) => getNamedType(type).name !== 'ID').map(({ name }) => name)).toEqual([]);
  });

  test('has times, amounts and rates in scalars that name their unit, or in names that do', () => {
    const units: readonly (readonly [RegExp, string])[] = [
      [/(At|[a-z]Until)$|^(at|since|until|from|to|validFrom)$/, 'DateTime'],
      [/Bytes$/, 'Bytes'],
      [/^rate$/, 'BytesPerSecond'],
      [/^rateLimit$/, 'KibPerSecond'],
      [/^flowLimit$/, 'Mebibytes'],
    ];
    expect(pathsOf((element) => element.type !== undefined && units.some(([name, scalar]) => name.test(element.name) && namedType(element) !== scalar)))
      .toEqual([]);
    expect(pathsOf((element) => namedType(element) === 'Float' && !/Seconds$|^dropped$|^load$/.test(element.name))).toEqual([]);
  });

  const mutations = Object.values(schema.getMutationType()?.getFields() ?? {});
  const inputOf = (field: (typeof mutations)[number]) => field.args.find(({ name }) => name === 'input');

  test.each(['create', 'update'])('has one input for each %s mutation, named after it', (verb) => {
    const named = mutations.filter(({ name }) => new RegExp(`^${verb}[A-Z]`).test(name));
    expect(named.length).toBeGreaterThan(3);
    for (const field of named) {
      const type = inputOf(field)?.type;
      expect([field.name, String(type)]).toEqual([field.name, `${field.name.replace(/^./, (letter) => letter.toUpperCase())}Input!`]);
      // Checks can be run alone. An update can name the version that it is based on. The legacy API accepts half of a certificate's pair, and any server URL.
      const control = ['id', 'input', 'dryRun', 'unpaired', 'anyServerUrl', ...verb === 'update' ? ['expectedVersion'] : []];
      expect(field.args.map(({ name }) => name).filter((name) => !control.includes(name))).toEqual([]);
    }
  });

  test('requires nothing in an update, and marks the required fields of every create', () => {
    const requiredOf = (verb: string) =>
      Object.fromEntries(
        mutations.filter(({ name }) => name.startsWith(verb)).map((field) => {
          const type = getNullableType(inputOf(field)?.type);
          return [
            field.name,
            isInputObjectType(type)
              ? Object.values(type.getFields()).filter((one) => isNonNullType(one.type)).map(({ name }) => name)
              : undefined,
          ];
        }),
      );
    expect(requiredOf('create')).toEqual({
      createUser: ['username', 'password'],
      createClient: [],
      createTunnel: ['clientId', 'mode'],
      createHost: ['clientId'],
      createApiToken: ['name'],
      createEnrolment: ['clientId'],
    });
    expect(requiredOf('update')).toEqual({ updateUser: [], updateClient: [], updateTunnel: [], updateHost: [], updateGlobalSettings: [] });
  });

  test('says in an update nothing about new records, and in a create nothing about what a record already has', () => {
    const said = (verb: string, about: RegExp) =>
      types.filter((type) => type.name.startsWith(verb)).flatMap(elementsOf).filter(({ path, description }) => path.includes('.') && about.test(description))
        .map(({ path }) => path);
    expect(said('Update', /\bnew (user|client|tunnel|host)\b|generated (for \w+ )?if absent|\bdefault\b/i)).toEqual([]);
    expect(said('Create', /\balready\b|\bremoves?\b (it|the login)|not before one of/i)).toEqual([]);
  });

  test('describes the arguments of all pages in the same words, and searches by what they find', () => {
    const arguments_ = (name: string) => elements.filter(({ path }) => path.endsWith(`(${name})`));
    expect(arguments_('offset').length).toBeGreaterThan(7);
    for (const name of ['offset', 'limit']) {
      expect(new Set(arguments_(name).map(({ description }) => description)).size).toBe(1);
      expect(arguments_(name)[0]?.description).toContain('Negative values count as 0.');
    }
    for (const { path, description } of arguments_('search')) expect([path, description.includes('port')]).toEqual([path, path === 'Query.tunnels(search)']);
  });

  test('has in an update all that a create has, with the same types', () => {
    for (const name of ['User', 'Client', 'Tunnel', 'Host']) {
      const [create, update] = ['Create', 'Update'].map((verb) => schema.getType(`${verb}${name}Input`));
      if (!isInputObjectType(create) || !isInputObjectType(update)) throw new Error(`there are not both inputs of ${name}`);
      const shape = (type: typeof create) =>
        Object.fromEntries(Object.values(type.getFields()).map((field) => [field.name, String(getNullableType(field.type))]));
      expect(shape(create)).toEqual(shape(update));
    }
  });
});
