import {
  defaultFieldResolver,
  type DocumentNode,
  type FieldNode,
  getNamedType,
  getNullableType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  GraphQLString,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { getArgumentValues } from 'graphql/execution/values.js';
import type { Execution } from './execution.ts';

/** The operation being compiled. */
export interface Compiling {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
}

/** Builds the response object of a record. */
export type MakeObject = (source: unknown, execution: Execution) => object;

/** Converts a field's value, which is not a promise, to its response. @throws {Error} for a value that the field's type can't have */
type Complete = (value: unknown, execution: Execution) => unknown;

type Arguments = (execution: Execution) => Readonly<Record<string, unknown>>;

/** The variables that a compiled function can use, by name. */
type Scope = Record<string, unknown>;

/**
 * Compiles the selection of an object: to an object literal whose members call the schema's resolvers. A loop over the fields, or an executor that
 * tracks the path of each value, takes several times as long.
 * @throws {Error} for features that our operations don't use: directives, interfaces, unions
 */
export function compileObject(compiling: Compiling, type: GraphQLObjectType, sets: readonly SelectionSetNode[]): MakeObject {
  const scope: Scope = { isPromise };
  const before: string[] = [];
  const members: string[] = [];
  for (const [key, nodes] of fieldsOf(compiling, type, sets)) {
    const n = members.length;
    const [node] = nodes;
    const field = node && type.getFields()[node.name.value];
    if (!field) throw new Error(`${type.name} has no field ${key}`);
    const member = JSON.stringify(key);
    const { resolve = defaultFieldResolver } = field;
    scope[`complete${n}`] = completion(compiling, field.type, nodes, `${type.name}.${field.name}`);
    if (resolve === defaultFieldResolver && isLeafType(getNamedType(field.type))) {
      members.push(`${member}: complete${n}(source[${JSON.stringify(field.name)}], execution)`);
      continue;
    }
    scope[`resolve${n}`] = resolve;
    scope[`given${n}`] = argumentsOf(field, node);
    scope[`info${n}`] = infoOf(compiling, type, field, nodes);
    // Waits for a promise before anything else can throw: otherwise its rejection would be unhandled and end the process.
    // `made` is assigned before the promise resolves, unless the operation has failed.
    before.push(`const value${n} = resolve${n}(source, given${n}(execution), execution.context, info${n}), later${n} = isPromise(value${n});
      if (later${n}) execution.wait(value${n}, (value) => { made[${member}] = complete${n}(value, execution); });`);
    members.push(`${member}: later${n} ? null : complete${n}(value${n}, execution)`);
  }
  const body = `const { ${Object.keys(scope).join(', ')} } = scope; return (source, execution) => { ${before.join('\n')} const made = { ${
    members.join(',\n')
  } }; return made; };`;
  // Contains only names from our own documents and schema.
  // oxlint-disable-next-line typescript/no-implied-eval, typescript/no-unsafe-type-assertion
  return (new Function('scope', body) as (scope: Scope) => MakeObject)(scope);
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

/** Whether a value can be iterated, but is neither a text nor an array. */
function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Symbol.iterator in value;
}

/** The selected fields, including those of fragments, by their names in the response. */
function fieldsOf(compiling: Compiling, type: GraphQLObjectType, sets: readonly SelectionSetNode[]): Map<string, FieldNode[]> {
  const fields = new Map<string, FieldNode[]>();
  for (const selection of sets.flatMap((set) => set.selections)) {
    if (selection.directives && selection.directives.length > 0) throw new Error('an operation uses directives, which compiled operations do not know');
    if (selection.kind === Kind.FIELD) {
      const key = selection.alias?.value ?? selection.name.value;
      fields.set(key, [...fields.get(key) ?? [], selection]);
      continue;
    }
    const fragment = selection.kind === Kind.INLINE_FRAGMENT
      ? selection
      : compiling.document.definitions.find((definition) => definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === selection.name.value);
    if (fragment?.kind !== Kind.FRAGMENT_DEFINITION || fragment.typeCondition.name.value !== type.name) {
      throw new Error(`a fragment is for another type than ${type.name}`);
    }
    for (const [key, nodes] of fieldsOf(compiling, type, [fragment.selectionSet])) fields.set(key, [...fields.get(key) ?? [], ...nodes]);
  }
  return fields;
}

function argumentsOf(field: GraphQLField<unknown, unknown>, node: FieldNode): Arguments {
  if (!node.arguments || node.arguments.length === 0) {
    const defaults = Object.freeze(getArgumentValues(field, node));
    return () => defaults;
  }
  const given = new Map(node.arguments.map(({ name, value }) => [name.value, value]));
  const plain = field.args.map(({ name, type, defaultValue }) => {
    const value = given.get(name);
    return isNonNullType(type) || (value && value.kind !== Kind.VARIABLE) ? undefined : { name, defaultValue, variable: value?.name.value };
  });
  if (plain.includes(undefined)) return ({ variables }) => getArgumentValues(field, node, variables);
  const known = plain.filter((each) => each !== undefined);
  // Most arguments are nullable variables; their values were validated with the variables.
  return ({ variables }) => {
    const values: Record<string, unknown> = {};
    for (const { name, defaultValue, variable } of known) {
      if (variable !== undefined && Object.hasOwn(variables, variable)) values[name] = variables[variable];
      else if (defaultValue !== undefined) values[name] = defaultValue;
    }
    return values;
  };
}

/** The `info` argument of resolvers. Resolvers of this schema use neither the path nor variables, so it is built once. */
function infoOf(
  { schema, document, operation }: Compiling,
  parentType: GraphQLObjectType,
  field: GraphQLField<unknown, unknown>,
  fieldNodes: readonly FieldNode[],
): GraphQLResolveInfo {
  const unknown = (what: string) => new Error(`a compiled operation does not know its ${what}`);
  const fragments = Object.fromEntries(
    document.definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION).map((definition) => [definition.name.value, definition]),
  );
  return {
    fieldName: field.name,
    fieldNodes,
    returnType: field.type,
    parentType,
    schema,
    fragments,
    operation,
    rootValue: undefined,
    get path(): never {
      throw unknown('path');
    },
    get variableValues(): never {
      throw unknown('variables');
    },
  };
}

/** @param name of the field, for errors */
function completion(compiling: Compiling, type: GraphQLOutputType, nodes: readonly FieldNode[], name: string): Complete {
  if (isNonNullType(type)) {
    const complete = completion(compiling, type.ofType, nodes, name);
    return (value, execution) => {
      const completed = complete(value, execution);
      if (completed === null || completed === undefined) throw new Error(`Cannot return null for non-nullable field ${name}.`);
      return completed;
    };
  }
  const complete = ofType(compiling, type, nodes, name);
  return (value, execution) => {
    if (value === null || value === undefined) return null;
    if (value instanceof Error) throw value;
    return complete(value, execution);
  };
}

function ofType(compiling: Compiling, type: GraphQLOutputType, nodes: readonly FieldNode[], name: string): Complete {
  if (isLeafType(type)) return (value) => type.serialize(value);
  if (isListType(type)) {
    const complete = completion(compiling, type.ofType, nodes, name);
    const texts = getNullableType(type.ofType) === GraphQLString;
    return (list, execution) => {
      // A list that is made when it is written.
      if (texts && isIterable(list)) return list;
      if (!Array.isArray(list)) throw new Error(`${name} is no list`);
      const items: readonly unknown[] = list;
      if (texts && items.every(isText)) return items;
      const made: unknown[] = [];
      // Waits for all promises first, as for the fields of an object.
      for (const [index, item] of items.entries()) {
        if (isPromise(item)) {
          execution.wait(item, (value) => {
            made[index] = complete(value, execution);
          });
        }
      }
      for (const item of items) made.push(isPromise(item) ? null : complete(item, execution));
      return made;
    };
  }
  if (!isObjectType(type)) throw new Error(`${name} is neither an object nor a value`);
  return compileObject(compiling, type, nodes.flatMap(({ selectionSet }) => selectionSet ?? []));
}
