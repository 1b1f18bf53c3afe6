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

/** What an endpoint may know of the server when it starts. */
export interface Boot {
  readonly schema: GraphQLSchema;
  readonly authKey: string;
  readonly authCryptKey: string;
  readonly callers: Callers;
  /** ms since the epoch */
  readonly now: () => number;
}

/** One call of an endpoint. */
export interface Call {
  readonly request: Request;
  /** For cookies; what is answered, the action returns. */
  readonly response: Response;
  readonly input: Input;
  /** undefined where anyone may call. */
  readonly caller?: Caller;
  /** What the resolvers get; holds the caller too. */
  readonly context: OperationContext;
}

/** An answer that sends the caller to a page of the panel, below the base path. */
export class Redirect {
  readonly path: string;
  constructor(path: string) {
    this.path = path;
  }
}

/** Answers a call with the body of a success, or with a list. @throws whatever the operation failed with */
export type Action = (call: Call) => object | Promise<object>;

/** What an endpoint answers (contract section 0); raw = a shape of its own. */
export type Envelope = 'write' | 'single' | 'list' | 'raw';

/** All there is to say of an endpoint. The router, the tests, the authorisation matrix and the API description read this. */
export interface Route {
  /** Lower case, without the trailing slash. */
  readonly path: string;
  readonly aliases: readonly string[];
  readonly methods: readonly ('GET' | 'POST')[];
  /** Who may call: anyone at all, or a caller who has proven who they are. */
  readonly access: 'anyone' | 'caller';
  /** One line for the API description. */
  readonly summary: string;
  readonly parameters: Parameters;
  readonly envelope: Envelope;
  /** `msg` of a successful write. */
  readonly success?: string;
  /** A success carries the id of what was made. */
  readonly creates?: true;
  /** What it answers: a record, a row of the list, what a write answers beside its text, or all of a shape of its own. */
  readonly answer?: ShapeName;
  /** It answers with a redirect to a page. */
  readonly redirects?: true;
  /** The GraphQL operation it runs. */
  readonly operation?: DocumentNode;
  /** A GET opens a page of the panel instead (contract D3). */
  readonly panel?: true;
  /** The panel has a page at this path; of all others a browser is led to its start. */
  readonly ownPage?: true;
  /** Most calls a minute from one address. */
  readonly perMinute?: number;
  readonly texts?: FailureTexts;
  readonly fields?: FieldNames;
  /** Makes the endpoint ready to be called. */
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

/** An endpoint that changes something: `{status, msg}`, and `id` of what it made, or what `extra` adds. */
export function write<P extends Parameters, Result, Variables extends object>(row: Operated<P, Result, Variables> & {
  readonly variables: (values: Values<P>) => NoInfer<Variables>;
  readonly success: string;
  /** The id of what was made, as GraphQL has it; the legacy API has numbers. */
  readonly createdId?: (result: Result) => string;
  readonly extra?: (result: Result) => object;
  readonly fields?: FieldNames;
  readonly panel?: true;
}): Route {
  const { variables, createdId, extra, ...told } = row;
  return {
    aliases: [], ...told, ...(createdId && { creates: true }), methods: row.panel ? read : post, access: 'caller', envelope: 'write',
    bind: ({ schema }) => {
      const run = compileOperation(schema, row.operation);
      const changes = getOperationAST(row.operation)?.operation === OperationTypeNode.MUTATION;
      return async ({ input, context, caller }) => {
        const values = readParameters(row.parameters, input, caller?.kind === 'admin');
        // Before anything that only making the variables finds.
        if (changes && caller?.readOnly === true) throw new AditError('FORBIDDEN');
        const result = await run(context, variables(values));
        return { status: 1, msg: row.success, ...(createdId && { id: Number(createdId(result)) }), ...extra?.(result) };
      };
    },
  };
}

/** An endpoint for one record: `{code, data}`. `record` gives null when there is none. */
export function single<P extends Parameters, Result, Variables extends object>(row: Operated<P, Result, Variables> & {
  readonly variables: (values: Values<P>) => NoInfer<Variables>;
  readonly record: (result: Result) => object | null;
}): Route {
  const { variables, record, ...told } = row;
  return {
    aliases: [], ...told, methods: read, access: 'caller', envelope: 'single',
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
 * An endpoint for a list: `{rows, total}` and what `page` adds. The operation runs for some rows at a time, from where it stopped before. Variables
 * of undefined = nothing can match.
 */
export function list<P extends Parameters, Result, Variables extends { readonly limit?: number | null | undefined }>(row: Operated<P, Result, Variables> & {
  readonly variables: (values: Values<P>) => NoInfer<Variables> | undefined;
  readonly page: (result: Result, request: Request) => ListPart;
}): Route {
  const { variables, page, ...told } = row;
  return {
    aliases: [], ...told, methods: read, access: 'caller', envelope: 'list',
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

/** An endpoint that reads, in a shape of its own. */
export function shaped<P extends Parameters, Result, Variables extends object>(row: Operated<P, Result, Variables> & {
  readonly variables: (values: Values<P>) => NoInfer<Variables>;
  readonly shape: (result: Result) => object;
}): Route {
  const { variables, shape, ...told } = row;
  return {
    aliases: [], ...told, methods: read, access: 'caller', envelope: 'raw',
    bind: ({ schema }) => {
      const run = compileOperation(schema, row.operation);
      return async ({ input, context, caller }) => shape(await run(context, variables(readParameters(row.parameters, input, caller?.kind === 'admin'))));
    },
  };
}

/** An endpoint that needs no caller, and answers in a shape of its own. */
export function raw(row: Described & Partial<Pick<Route, 'methods' | 'parameters' | 'operation' | 'perMinute' | 'redirects'>> & { readonly bind: (boot: Boot) => Action }): Route {
  return { aliases: [], methods: read, parameters: {}, ...row, access: 'anyone', envelope: 'raw' };
}
