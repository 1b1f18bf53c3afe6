import {
  type DocumentNode, type FieldNode, getNamedType, getNullableType, type GraphQLCompositeType, type GraphQLField, type GraphQLSchema, isAbstractType, isCompositeType, isIntrospectionType,
  isListType, Kind, type OperationDefinitionNode, SchemaMetaFieldDef, type SelectionSetNode, TypeMetaFieldDef, TypeNameMetaFieldDef, type ValueNode,
} from 'graphql';
import { rowLimits } from '../schema/page.ts';

/** What a search costs beside what it returns: it reads the whole list, and the list once more for the total. */
const searchCost = 2500;
/** Items of a list that says nothing of them. However many there are, the result's own limit counts them (schema/result-limits.ts). */
const usualItems = 10;
/** Items of the lists of the introspection: on average types have so many fields, and fields so many arguments. */
const introspectionItems: Readonly<Record<string, number>> = { types: 100, fields: 4, inputFields: 1, args: 0.5, enumValues: 2, interfaces: 0.5, possibleTypes: 0.5, directives: 6 };

/**
 * What an operation may cost: the number of values that it may return. A field is one value; what is below a list counts as often as the list
 * may have items: by the `limit` of the list, or by what the schema says of it (the extension `items`). Fragments count wherever they are used.
 * Stops counting beyond `most`.
 * @param variables as the caller sent them
 */
export function costOf(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode, variables: Readonly<Record<string, unknown>>, most: number): number {
  const fragments = new Map(document.definitions.flatMap((definition) => definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition]] : []));
  const defaults = new Map(operation.variableDefinitions?.map(({ variable, defaultValue }) => [variable.name.value, defaultValue]));

  /** @param limit of the list that the selection is part of */
  function ofSelections({ selections }: SelectionSetNode, type: GraphQLCompositeType, limit: number | undefined, seen = new Set<string>()): number {
    let cost = 0;
    for (const selection of selections) {
      if (cost > most) return cost;
      if (selection.kind === Kind.FIELD) {
        cost += ofField(selection, type, limit);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        cost += ofSelections(selection.selectionSet, typeOf(selection.typeCondition?.name.value) ?? type, limit, seen);
      } else if (!seen.has(selection.name.value)) {
        // Within one selection the executor takes a fragment once.
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
    const own = 1 + (isGiven(valueOf(node, 'search')) ? searchCost : 0);
    const type = getNamedType(field.type);
    if (node.selectionSet === undefined || !isCompositeType(type)) return own;
    const hasLimit = field.args.some(({ name }) => name === 'limit');
    const below = ofSelections(node.selectionSet, type, hasLimit ? rowsOf(valueOf(node, 'limit')) : undefined);
    return own + below * (isListType(getNullableType(field.type)) ? itemsOf(field, parent, limit) : 1);
  }

  function valueOf(node: FieldNode, argument: string): unknown {
    const value = node.arguments?.find(({ name }) => name.value === argument)?.value;
    if (value?.kind !== Kind.VARIABLE) return literal(value);
    const name = value.name.value;
    return Object.hasOwn(variables, name) ? variables[name] : literal(defaults.get(name));
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

/** More than a list may have is refused by the list itself, and a list without rows has its total. */
function rowsOf(limit: unknown): number {
  return typeof limit === 'number' ? Math.min(Math.max(limit, 1), rowLimits.most) : rowLimits.normal;
}

function isGiven(search: unknown): boolean {
  return search !== undefined && search !== null && search !== '';
}

function literal(value: ValueNode | undefined): unknown {
  if (value?.kind === Kind.INT) return Number(value.value);
  return value?.kind === Kind.STRING ? value.value : undefined;
}
