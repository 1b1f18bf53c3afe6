import { defaultFieldResolver, getNamedType, getNullableType, type GraphQLSchema, isCompositeType, isListType, isObjectType } from 'graphql';
import { Context } from './context.ts';

/** Makes every list of the schema go through the limits of the operation that asks for it (result-limits.ts), so that no field can forget it. */
export function boundLists(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      if (!isListType(getNullableType(field.type))) continue;
      const { resolve = defaultFieldResolver } = field;
      const kind = isCompositeType(getNamedType(field.type)) ? 'records' : 'values';
      field.resolve = (source, args, context: unknown, info): unknown => {
        const results = context instanceof Context ? context.results : undefined;
        if (results === undefined) return resolve(source, args, context, info);
        const bounded = (items: unknown) => Array.isArray(items) ? results[kind](items) : items;
        const make = (): unknown => {
          const list: unknown = resolve(source, args, context, info);
          return list instanceof Promise ? list.then(bounded) : bounded(list);
        };
        // To make a list of a long text takes time too.
        return results.begin()?.then(make) ?? make();
      };
    }
  }
  return schema;
}
