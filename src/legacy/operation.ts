import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import type { GraphQLSchema } from 'graphql';
import { compileQuery } from 'graphql-jit';

/** Runs an operation in process, as the caller that `context` holds. Rejects with the first error, unless there is data. */
export type RunOperation<Result, Variables> = (context: unknown, variables: Variables) => Promise<Result>;

/**
 * Compiles an operation once, so that no request parses, validates or plans it.
 * @throws {Error} when the operation doesn't fit the schema
 */
export function compileOperation<Result, Variables extends object>(
  schema: GraphQLSchema,
  document: TypedDocumentNode<Result, Variables>,
): RunOperation<Result, Variables> {
  const compiled = compileQuery<Result, Variables>(schema, document);
  if (!('query' in compiled)) {
    throw new Error(`an operation does not fit the schema: ${compiled.errors?.map((error) => error.message).join('; ')}`);
  }
  return async (context, variables) => {
    const { data, errors } = await compiled.query(undefined, context, withoutAbsent(variables));
    if (errors?.[0]) throw errors[0];
    if (!data) throw new Error('an operation gave neither data nor errors');
    return data;
  };
}

/**
 * Leaves out what is undefined: to the compiled operation a key that is there with undefined is null, which clears a value
 * where an absent one keeps it.
 */
function withoutAbsent<T extends object>(values: T): T {
  const given = { ...values };
  for (const key in given) {
    const value = given[key];
    if (value === undefined) delete given[key];
    else if (typeof value === 'object' && value !== null && !Array.isArray(value)) given[key] = withoutAbsent(value);
  }
  return given;
}
