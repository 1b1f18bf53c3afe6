import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { type GraphQLSchema, Kind, OperationTypeNode, validate } from 'graphql';
import { getVariableValues } from 'graphql/execution/values.js';
import { compileObject, type MakeObject } from './compiled-fields.ts';
import { Execution } from './execution.ts';

/** Runs an operation in process, as the caller in `context`. Rejects with the first error, even if there is partial data. */
export type RunOperation<Result, Variables> = (context: unknown, variables: Variables) => Promise<Result>;

/**
 * Compiles a query, or a mutation with one field, so that requests need no parsing, validation or planning.
 * @throws {Error} if the operation doesn't match the schema
 */
export function compileOperation<Result, Variables extends object>(
  schema: GraphQLSchema,
  document: TypedDocumentNode<Result, Variables>,
): RunOperation<Result, Variables> {
  const errors = validate(schema, document);
  if (errors.length > 0) throw new Error(`an operation does not fit the schema: ${errors.map((error) => error.message).join('; ')}`);
  const operation = document.definitions.find((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  const root = operation && schema.getRootType(operation.operation);
  if (operation === undefined || !root) throw new Error('an operation is neither a query nor a mutation of the schema');
  if (operation.operation !== OperationTypeNode.QUERY && operation.selectionSet.selections.length !== 1) {
    throw new Error('several mutations of one operation would run at once');
  }
  const compiled = compileObject({ schema, document, operation }, root, [operation.selectionSet]);
  const { variableDefinitions = [] } = operation;
  return async (context, variables) => {
    const { coerced, errors } = getVariableValues(schema, variableDefinitions, withoutAbsent(variables));
    if (errors !== undefined) throw errors[0] ?? new Error('the variables of an operation do not fit it');
    const execution = new Execution(context, coerced);
    const data = start(compiled, execution);
    await execution.ended();
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its type is generated from the document
    return data as Result;
  };
}

/** Starts an operation. If a resolver throws, the error is reported when all started fields are done. @returns the result, valid when the operation has ended */
function start(compiled: MakeObject, execution: Execution): object | undefined {
  try {
    return compiled(undefined, execution);
  } catch (error) {
    execution.fail(error);
    return undefined;
  }
}

/** Drops undefined variables, which would be null. GraphQL itself takes undefined fields of an input object as absent. */
function withoutAbsent(variables: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined));
}

/** The part of the context that the legacy API uses. Resolvers use more of it. */
export interface OperationContext {
  /** Makes each further run of the operation return the next rows of its list. @param most maximum rows of all runs together; undefined = all */
  walk(most: number | undefined): { readonly ended: boolean };
  /** Waits for the next time slice; call it before each part of long work. @returns undefined = continue immediately */
  nextSlice(): Promise<void> | undefined;
  /** Waits until the caller may begin another long operation. @returns a function that ends it @throws {AditError} TOO_MANY_OPERATIONS */
  takeSlot(): Promise<() => void>;
}
