import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { useEffect, useEffectEvent, useRef } from 'react';
import { type AnyVariables, type CombinedError, type OperationResult, useClient, useQuery } from 'urql';
import { loggedOut } from './session.ts';
import { recoveries } from './connection.ts';

/** The state of a query. */
export interface Queried<Data> {
  /** The newest result; undefined = none yet. */
  readonly data: Data | undefined;
  /** What the result answers: it differs for other variables. */
  readonly question: number | undefined;
  /** Why the newest request failed. */
  readonly error: CombinedError | undefined;
  /** Whether an answer is awaited. */
  readonly isAsking: boolean;
  /** Asks again. */
  readonly refetch: () => void;
}

/**
 * The result of a query, kept up to date: it is asked again when the connection returns, after a login, and, if wanted, in intervals while the page is
 * visible. Earlier data is kept meanwhile.
 * @param options.everyMs the interval; absent = none
 * @param options.pause don't ask yet
 */
export function useData<Data, Variables extends AnyVariables>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  { everyMs, pause = false }: { readonly everyMs?: number; readonly pause?: boolean } = {},
): Queried<Data> {
  const [{ data, error, operation, fetching }, execute] = useQuery<Data, Variables>({ query, variables, pause });
  const latest = useRef<{ readonly data: Data; readonly question: number | undefined } | undefined>(undefined);
  if (data !== undefined && data !== null) latest.current = { data, question: operation?.key };
  const refetch = useEffectEvent(() => {
    if (!pause) execute({ requestPolicy: 'network-only' });
  });
  useEffect(() => {
    const ends = [
      recoveries.subscribe(() => refetch()),
      loggedOut.subscribe(() => {
        if (!loggedOut.get()) refetch();
      }),
    ];
    return () => {
      for (const end of ends) end();
    };
  }, []);
  useEffect(() => {
    if (everyMs === undefined) return undefined;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') refetch();
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return {
    ...(latest.current ?? { data: undefined, question: undefined }),
    error,
    isAsking: fetching,
    refetch: () => execute({ requestPolicy: 'network-only' }),
  };
}

/** Runs mutations. */
export function useRun() {
  const client = useClient();
  return async <Data, Variables extends AnyVariables>(
    mutation: TypedDocumentNode<Data, Variables>,
    variables: Variables,
  ): Promise<OperationResult<Data, Variables>> => await client.mutation(mutation, variables).toPromise();
}

/** Runs single queries. They always ask the server. */
export function useAsk() {
  const client = useClient();
  return async <Data, Variables extends AnyVariables>(
    query: TypedDocumentNode<Data, Variables>,
    variables: Variables,
  ): Promise<OperationResult<Data, Variables>> => await client.query(query, variables, { requestPolicy: 'network-only' }).toPromise();
}
