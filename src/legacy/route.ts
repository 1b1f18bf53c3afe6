import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import type { Request, Response } from 'express';
import { type DocumentNode, getOperationAST, type GraphQLSchema, OperationTypeNode } from 'graphql';
import type { Caller } from '../rules/caller.ts';
import { AditError } from '../schema/errors.ts';
import type { Callers } from './callers.ts';
import type { FailureTexts, FieldNames } from './errors.ts';
import type { Input } from './input.ts';
import { ListAnswer, type ListPart } from './list-answer.ts';
import { compileOperation, type OperationContext } from './operation.ts';
import { readParameters, type Parameters, type Values } from './parameters.ts';
import type { ShapeName } from './shapes.ts';

/** The dependencies of an endpoint. */
export interface Boot {
  readonly schema: GraphQLSchema;
  readonly authKey: string;
  readonly authCryptKey: string;
  readonly callers: Callers;
  /** ms since the epoch */
  readonly now: () => number;
}

/** One call of an endpoint. */
interface Call {
  readonly request: Request;
  /** For setting cookies; the action returns the response itself. */
  readonly response: Response;
  readonly input: Input;
  /** undefined if the endpoint needs no authentication. */
  readonly caller?: Caller;
  /** The context for resolvers; it includes the caller. */
  readonly context: OperationContext;
}

/** A response that redirects the caller to a page of the panel, below the base path. */
export class Redirect {
  readonly path: string;
  constructor(path: string) {
    this.path = path;
  }
}

/** Returns the body of a successful response, or a list. @throws the operation's error */
export type Action = (call: Call) => object | Promise<object>;

/** The format of a response (contract section 0); raw = specific to the endpoint. */
type Envelope = 'write' | 'single' | 'list' | 'raw';

/** The complete description of an endpoint. The router, the tests, the authorization matrix and the API description use it. */
export interface Route {
  /** Lower case, without a trailing slash. */
  readonly path: string;
  readonly aliases: readonly string[];
  readonly methods: readonly ('GET' | 'POST')[];
  /** Allowed callers: anyone, or authenticated callers. */
  readonly access: 'anyone' | 'caller';
  /** One line for the API description. */
  readonly summary: string;
  readonly parameters: Parameters;
  readonly envelope: Envelope;
  /** `msg` of a successful write. */
  readonly success?: string;
  /** A successful response contains the id of the new record. */
  readonly creates?: true;
  /** The shape of the response: a record, a row of the list, the fields of a write's response besides its text, or a raw response. */
  readonly answer?: ShapeName;
  /** Whether the response redirects to a page. */
  readonly redirects?: true;
  /** The endpoint's GraphQL operation. */
  readonly operation?: DocumentNode;
  /** A GET opens a page of the panel instead (contract D3). */
  readonly panel?: true;
  /** The panel has a page at this path; for other paths a browser is redirected to the start page. */
  readonly ownPage?: true;
  /** Maximum calls per minute from one address. */
  readonly perMinute?: number;
  readonly texts?: FailureTexts;
  readonly fields?: FieldNames;
  /** Prepares the endpoint for calls. */
  readonly bind: (boot: Boot) => Action;
}

interface Described {
  readonly ownPage?: true;
  readonly path: string;
  readonly answer?: ShapeName;
  readonly aliases?: readonly string[];
  readonly summary: string;
}

interface Operated<P extends Parameters, Result, Variables> extends Described {
  readonly parameters: P;
  readonly operation: TypedDocumentNode<Result, Variables>;
  readonly texts?: FailureTexts;
}

const read = ['GET', 'POST'] as const;
const post = ['POST'] as const;

/** An endpoint that changes something: `{status, msg}`, with the `id` of a new record or the fields of `extra`. */
export function write<P extends Parameters, Result, Variables extends object>(
  row: Operated<P, Result, Variables> & {
    readonly variables: (values: Values<P>) => NoInfer<Variables>;
    readonly success: string;
    /** The id of the new record, as in GraphQL; the legacy API uses numbers. */
    readonly createdId?: (result: Result) => string;
    readonly extra?: (result: Result) => object;
    readonly fields?: FieldNames;
    readonly panel?: true;
  },
): Route {
  const { variables, createdId, extra, ...rest } = row;
  return {
    aliases: [],
    ...rest,
    ...(createdId && { creates: true }),
    methods: row.panel ? read : post,
    access: 'caller',
    envelope: 'write',
    bind: ({ schema }) => {
      const run = compileOperation(schema, row.operation);
      const changes = getOperationAST(row.operation)?.operation === OperationTypeNode.MUTATION;
      return async ({ input, context, caller }) => {
        const values = readParameters(row.parameters, input, caller?.kind === 'admin');
        // Takes precedence over errors in the variables.
        if (changes && caller?.readOnly === true) throw new AditError('FORBIDDEN');
        const result = await run(context, variables(values));
        return { status: 1, msg: row.success, ...(createdId && { id: Number(createdId(result)) }), ...extra?.(result) };
      };
    },
  };
}

/** An endpoint for one record: `{code, data}`. `record` returns null if not found. */
export function single<P extends Parameters, Result, Variables extends object>(
  row: Operated<P, Result, Variables> & {
    readonly variables: (values: Values<P>) => NoInfer<Variables>;
    readonly record: (result: Result) => object | null;
  },
): Route {
  const { variables, record, ...rest } = row;
  return {
    aliases: [],
    ...rest,
    methods: read,
    access: 'caller',
    envelope: 'single',
    bind: ({ schema }) => {
      const run = compileOperation(schema, row.operation);
      return async ({ input, context, caller }) => {
        const data = record(await run(context, variables(readParameters(row.parameters, input, caller?.kind === 'admin'))));
        return data ? { code: 1, data } : { code: 0 };
      };
    },
  };
}

/**
 * An endpoint for a list: `{rows, total}` and the fields of `page`. The operation runs for some rows at a time, each run continuing after the previous
 * one. If the variables are undefined, nothing can match.
 */
export function list<P extends Parameters, Result, Variables extends { readonly limit?: number | null | undefined }>(
  row: Operated<P, Result, Variables> & {
    readonly variables: (values: Values<P>) => NoInfer<Variables> | undefined;
    readonly page: (result: Result, request: Request) => ListPart;
  },
): Route {
  const { variables, page, ...rest } = row;
  return {
    aliases: [],
    ...rest,
    methods: read,
    access: 'caller',
    envelope: 'list',
    bind: ({ schema }) => {
      const run = compileOperation(schema, row.operation);
      return ({ input, context, caller, request }) => {
        const wanted = variables(readParameters(row.parameters, input, caller?.kind === 'admin'));
        if (!wanted) return { rows: [], total: 0 };
        return new ListAnswer(context.walk(wanted.limit ?? undefined), async (limit) => page(await run(context, { ...wanted, limit }), request));
      };
    },
  };
}

/** An endpoint that reads, with its own response format. */
export function shaped<P extends Parameters, Result, Variables extends object>(
  row: Operated<P, Result, Variables> & {
    readonly variables: (values: Values<P>) => NoInfer<Variables>;
    readonly shape: (result: Result) => object;
  },
): Route {
  const { variables, shape, ...rest } = row;
  return {
    aliases: [],
    ...rest,
    methods: read,
    access: 'caller',
    envelope: 'raw',
    bind: ({ schema }) => {
      const run = compileOperation(schema, row.operation);
      return async ({ input, context, caller }) => shape(await run(context, variables(readParameters(row.parameters, input, caller?.kind === 'admin'))));
    },
  };
}

/** An endpoint without authentication, with its own response format. */
export function raw(
  row: Described & Partial<Pick<Route, 'methods' | 'parameters' | 'operation' | 'perMinute' | 'redirects'>> & { readonly bind: (boot: Boot) => Action },
): Route {
  return { aliases: [], methods: read, parameters: {}, ...row, access: 'anyone', envelope: 'raw' };
}
