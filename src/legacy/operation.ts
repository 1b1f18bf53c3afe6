import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { type GraphQLSchema, Kind, OperationTypeNode, validate } from 'graphql';
import { getVariableValues } from 'graphql/execution/values.js';
import { compileObject, type MakeObject } from './compiled-fields.ts';
import { Execution } from './execution.ts';

/** Runs an operation in process, as the caller that `context` holds. Rejects with the first error, whatever data there is. */
export type RunOperation<Result, Variables> = (context: unknown, variables: Variables) => Promise<Result>;

/**
 * Compiles a query, or a mutation with one field, so that no request parses, validates or plans it.
 * @throws {Error} when the operation doesn't fit the schema
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
  if (operation.operation !== OperationTypeNode.QUERY && operation.selectionSet.selections.length !== 1) throw new Error('several mutations of one operation would run at once');
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

/** Starts an operation, which fails with what is thrown once the fields that have begun are done. @returns what it answers when it has ended */
function start(compiled: MakeObject, execution: Execution): object | undefined {
  try {
    return compiled(undefined, execution);
  } catch (error) {
    execution.fail(error);
    return undefined;
  }
}

/** Leaves out what is undefined: a key that is there without a value would be null, which clears a value where an absent one keeps it. */
function withoutAbsent(values: object): Record<string, unknown> {
  const given: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(values) as [string, unknown][]) {
    if (value !== undefined) given[key] = typeof value === 'object' && value !== null && !Array.isArray(value) ? withoutAbsent(value) : value;
  }
  return given;
}

/** What the legacy API uses of the context that its operations run with. The resolvers know more of it. */
export interface OperationContext {
  /** From now on each run of the operation returns the next rows of its list. @param most rows of all runs; undefined = all */
  walk(most: number | undefined): { readonly ended: boolean };
  /** Asks for another part of the event loop's time, before work that may take long. @returns undefined = go on at once */
  turn(): Promise<void> | undefined;
  /** Waits until the caller may begin another long operation. @returns ends it @throws {AditError} TOO_MANY_OPERATIONS */
  takeSlot(): Promise<() => void>;
}
