import {
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLOutputType,
} from 'graphql';
import { schema } from '../../src/schema/schema.ts';

/** A root field of the schema. */
export interface RootField {
  readonly kind: 'query' | 'mutation' | 'subscription';
  readonly field: GraphQLField<unknown, unknown>;
}

/** Every root field there is. */
export const rootFields: readonly RootField[] = ([
  ['query', schema.getQueryType()],
  ['mutation', schema.getMutationType()],
  ['subscription', schema.getSubscriptionType()],
] as const).flatMap(([kind, type]) => Object.values(type?.getFields() ?? {}).map((field) => ({ kind, field })));

/** The value of an argument or input field by its name; undefined = one by its type. */
export type ValueOf = (name: string) => unknown;

/** An operation as it is sent. */
export interface Operation {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** The operation that gives a root field every argument, every input field, and asks for everything that lies two levels below it. */
export function wholeOperation({ kind, field }: RootField, valueOf: ValueOf): Operation {
  const declared = field.args.map(({ name, type }) => `$${name}: ${String(type)}`).join(', ');
  const given = field.args.map(({ name }) => `${name}: $${name}`).join(', ');
  return {
    query: `${kind}${declared && ` (${declared})`} { ${field.name}${given && `(${given})`}${selection(field.type, 3)} }`,
    variables: Object.fromEntries(field.args.map(({ name, type }) => [name, inputFor(name, type, valueOf)])),
  };
}

function inputFor(name: string, type: GraphQLInputType, valueOf: ValueOf): unknown {
  const nullable = getNullableType(type);
  if (isListType(nullable)) return [inputFor(name, nullable.ofType, valueOf)];
  if (isInputObjectType(nullable) && valueOf(name) === null && !isNonNullType(type)) return null;
  if (isInputObjectType(nullable)) {
    return Object.fromEntries(Object.values(nullable.getFields()).map((field) => [field.name, inputFor(field.name, field.type, valueOf)]));
  }
  const value = valueOf(name);
  if (value !== undefined && !(value === null && isNonNullType(type))) return value;
  if (isEnumType(nullable)) return nullable.getValues()[0]?.name;
  switch (getNamedType(nullable).name) {
    case 'Boolean':
      return false;
    case 'DateTime':
      return '2100-01-01T00:00:00Z';
    case 'Int':
    case 'Port':
    case 'Bytes':
    case 'KibPerSecond':
    case 'Mebibytes':
    case 'ID':
      return 1;
    default:
      return 'x';
  }
}

function selection(type: GraphQLOutputType, levels: number): string {
  const named = getNamedType(type);
  if (isLeafType(named)) return '';
  if (!isObjectType(named)) throw new Error(`${String(named)} is no object: selections know none`);
  const fields = Object.values(named.getFields())
    .filter((field) => !field.args.some(isRequiredArgument) && (levels > 1 || isLeafType(getNamedType(field.type))))
    .map((field) => field.name + selection(field.type, levels - 1));
  return ` { __typename ${fields.join(' ')} }`;
}
