import {
  defaultFieldResolver,
  getNamedType,
  getNullableType,
  type GraphQLNamedType,
  type GraphQLSchema,
  isCompositeType,
  isListType,
  isObjectType,
} from 'graphql';
import type { Page } from '../../store/hot/page.ts';
import { Context } from '../context.ts';

/**
 * Wraps every list of the schema with the limits of its operation (limits/result-limits.ts), so that no field can omit them. Lists of
 * introspection are wrapped, too. Their types belong to the graphql module and not to the schema, so call this once in a process.
 * An operation reads one page at a time; records with the same parent type are read together (lists/loaders.ts).
 */
export function boundLists(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      const { resolve = defaultFieldResolver } = field;
      if (type === schema.getQueryType() && isPage(getNamedType(field.type))) {
        field.resolve = (source, args, context: unknown, info): unknown => {
          const results = context instanceof Context ? context.results : undefined;
          // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the field's type says so
          const read = () => Promise.resolve(resolve(source, args, context, info) as Page<unknown>);
          return results ? results.page(read) : read();
        };
        continue;
      }
      if (!isListType(getNullableType(field.type))) continue;
      const kind = isCompositeType(getNamedType(field.type)) ? 'records' : 'values';
      field.resolve = (source, args, context: unknown, info): unknown => {
        const results = context instanceof Context ? context.results : undefined;
        if (results === undefined) return resolve(source, args, context, info);
        const bounded = (items: unknown) => Array.isArray(items) ? results[kind](items) : items;
        const make = (): unknown => {
          const list: unknown = resolve(source, args, context, info);
          return list instanceof Promise ? list.then(bounded) : bounded(list);
        };
        // Building a list from a long text takes time, too.
        return results.begin()?.then(make) ?? make();
      };
    }
  }
  return schema;
}

function isPage(type: GraphQLNamedType): boolean {
  const rows = isObjectType(type) ? type.getFields()['rows'] : undefined;
  return rows !== undefined && isListType(getNullableType(rows.type));
}
