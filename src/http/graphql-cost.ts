import {
  type DocumentNode,
  type FieldNode,
  getNamedType,
  getNullableType,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  isAbstractType,
  isCompositeType,
  isInputObjectType,
  isIntrospectionType,
  isListType,
  Kind,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
  type ValueNode,
} from 'graphql';
import { rowLimits } from '../schema/lists/page.ts';

/** Additional cost of a search, and of a filter that no index covers: both read the whole list. */
const searchCost = 2500;
/** Assumed length of a list without a limit. If it is longer, the limits of the result apply (schema/limits/result-limits.ts). */
const usualItems = 10;
/** Assumed lengths of the introspection's lists: the average number of fields of a type, and of arguments of a field. */
const introspectionItems: Readonly<Record<string, number>> = {
  types: 100,
  fields: 4,
  inputFields: 1,
  args: 0.5,
  enumValues: 2,
  interfaces: 0.5,
  possibleTypes: 0.5,
  directives: 6,
};

/**
 * The cost of an operation: the number of values that it may return. A field is one value. Fields below a list count as often as the list
 * may have items: by the list's `limit`, or by its extension `items` in the schema. A fragment counts once in each selection set that uses it.
 * Stops counting above `most`.
 * @param variables as the caller sent them
 */
export function costOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
  most: number,
): number {
  const fragments = new Map(
    document.definitions.flatMap((definition) => definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition]] : []),
  );
  const defaults = new Map(operation.variableDefinitions?.map(({ variable, defaultValue }) => [variable.name.value, defaultValue]));

  /** @param limit of the list that contains the selection */
  function ofSelections({ selections }: SelectionSetNode, type: GraphQLCompositeType, limit: number | undefined, seen = new Set<string>()): number {
    let cost = 0;
    for (const selection of selections) {
      if (cost > most) return cost;
      if (selection.kind === Kind.FIELD) {
        cost += ofField(selection, type, limit);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        cost += ofSelections(selection.selectionSet, typeOf(selection.typeCondition?.name.value) ?? type, limit, seen);
      } else if (!seen.has(selection.name.value)) {
        // The executor runs a fragment once per selection.
        seen.add(selection.name.value);
        const fragment = fragments.get(selection.name.value);
        if (fragment) cost += ofSelections(fragment.selectionSet, typeOf(fragment.typeCondition.name.value) ?? type, limit, seen);
      }
    }
    return cost;
  }

  function ofField(node: FieldNode, parent: GraphQLCompositeType, limit: number | undefined): number {
    const field = fieldOf(schema, parent, node.name.value);
    if (field === undefined) return 1;
    const isSearch = isGiven(valueOf(node, 'search')) || field.extensions['searches'] === true || looksAtAll(node, field);
    const own = 1 + (isSearch ? searchCost : 0);
    const type = getNamedType(field.type);
    if (node.selectionSet === undefined || !isCompositeType(type)) return own;
    const hasLimit = field.args.some(({ name }) => name === 'limit');
    const below = ofSelections(node.selectionSet, type, hasLimit ? rowsOf(valueOf(node, 'limit')) : undefined);
    return own + below * (isListType(getNullableType(field.type)) ? itemsOf(field, parent, limit) : 1);
  }

  function valueOf(node: FieldNode, argument: string): unknown {
    return evaluated(node.arguments?.find(({ name }) => name.value === argument)?.value);
  }

  function evaluated(value: ValueNode | undefined): unknown {
    if (value?.kind === Kind.OBJECT) return Object.fromEntries(value.fields.map((field) => [field.name.value, evaluated(field.value)]));
    if (value?.kind !== Kind.VARIABLE) return literal(value);
    const name = value.name.value;
    return Object.hasOwn(variables, name) ? variables[name] : literal(defaults.get(name));
  }

  /** Whether a list's filter has a condition that no index covers (a field without the extension `indexed`). */
  function looksAtAll(node: FieldNode, { args }: GraphQLField<unknown, unknown>): boolean {
    const type = getNullableType(args.find(({ name }) => name === 'filter')?.type);
    const filter = isInputObjectType(type) ? valueOf(node, 'filter') : undefined;
    if (!isInputObjectType(type) || typeof filter !== 'object' || filter === null) return false;
    const fields = type.getFields();
    return Object.entries(filter).some(([name, value]) => isGiven(value) && fields[name]?.extensions['indexed'] !== true);
  }

  function typeOf(name: string | undefined): GraphQLCompositeType | undefined {
    const type = name === undefined ? undefined : schema.getType(name);
    return isCompositeType(type) ? type : undefined;
  }

  const root = schema.getRootType(operation.operation);
  return root ? ofSelections(operation.selectionSet, root, undefined) : 0;
}

function fieldOf(schema: GraphQLSchema, parent: GraphQLCompositeType, name: string): GraphQLField<unknown, unknown> | undefined {
  if (name === TypeNameMetaFieldDef.name) return TypeNameMetaFieldDef;
  if (parent === schema.getQueryType()) {
    if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
    if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
  }
  return isAbstractType(parent) && !('getFields' in parent) ? undefined : parent.getFields()[name];
}

function itemsOf({ name, extensions }: GraphQLField<unknown, unknown>, parent: GraphQLCompositeType, limit: number | undefined): number {
  if (isIntrospectionType(parent)) return introspectionItems[name] ?? usualItems;
  const { items } = extensions;
  return limit ?? (typeof items === 'number' ? items : usualItems);
}

/** The list itself refuses a limit above the maximum. A list with limit 0 still has its total. */
function rowsOf(limit: unknown): number {
  return typeof limit === 'number' ? Math.min(Math.max(limit, 1), rowLimits.most) : rowLimits.normal;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

/** The value of a literal without variables, as far as the cost depends on it. */
function literal(value: ValueNode | undefined): unknown {
  switch (value?.kind) {
    case Kind.INT:
      return Number(value.value);
    case Kind.STRING:
    case Kind.ENUM:
    case Kind.BOOLEAN:
      return value.value;
    case Kind.OBJECT:
      return Object.fromEntries(value.fields.map((field) => [field.name.value, literal(field.value)]));
    default:
      return undefined;
  }
}
