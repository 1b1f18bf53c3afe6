import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { useEffect, useEffectEvent, useState } from 'react';
import { type AnyVariables, type CombinedError, useClient } from 'urql';

/** A hidden page releases its subscriptions after this many ms: a browser has six connections to a server, for all of its tabs. */
const hiddenMs = 10_000;
/** The time before a subscription that ended is started again, in ms; doubled each time, at most {@link longestRetryMs}. */
const firstRetryMs = 1000;
const longestRetryMs = 30_000;

/** Whether the page is visible, or was a few seconds ago. */
function useVisible(): boolean {
  const [isVisible, setVisible] = useState(true);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const update = (): void => {
      clearTimeout(timer);
      if (document.visibilityState === 'visible') setVisible(true);
      else timer = setTimeout(() => setVisible(false), hiddenMs);
    };
    document.addEventListener('visibilitychange', update);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', update);
    };
  }, []);
  return isVisible;
}

/**
 * Calls `onEvent` with each event of a subscription while the component is shown and the page is visible. Starts it again if it ends.
 * Records in events also update the cache, and thereby every query that contains them.
 * @param options.pause don't subscribe
 * @returns why the server refuses the subscription
 */
export function useEvents<Data, Variables extends AnyVariables>(
  subscription: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  onEvent: (data: Data) => void,
  { pause = false }: { readonly pause?: boolean } = {},
): CombinedError | undefined {
  const [failure, setFailure] = useState<CombinedError>();
  const client = useClient();
  const isVisible = useVisible();
  const report = useEffectEvent(onEvent);
  const key = JSON.stringify(variables);
  const given = useEffectEvent(() => variables);
  useEffect(() => {
    if (pause || !isVisible) return undefined;
    let retryMs = firstRetryMs;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let stop = (): void => {};
    const start = (): void => {
      let isOpen = true;
      const opened = client.subscription<Data, Variables>(subscription, given()).subscribe(({ data, error, hasNext }) => {
        if (data !== undefined && data !== null && error === undefined) {
          retryMs = firstRetryMs;
          setFailure(undefined);
          report(data);
        }
        if (error?.graphQLErrors.length) setFailure(error);
        if ((error !== undefined || !hasNext) && isOpen) {
          isOpen = false;
          queueMicrotask(() => opened.unsubscribe());
          timer = setTimeout(start, retryMs);
          retryMs = Math.min(retryMs * 2, longestRetryMs);
        }
      });
      stop = () => opened.unsubscribe();
    };
    const end = (): void => {
      clearTimeout(timer);
      stop();
    };
    // A browser keeps a page that was left for going back, and with it the streams: the next page would wait for their connections.
    const restart = (event: PageTransitionEvent): void => {
      if (event.persisted) start();
    };
    window.addEventListener('pagehide', end);
    window.addEventListener('pageshow', restart);
    start();
    return () => {
      window.removeEventListener('pagehide', end);
      window.removeEventListener('pageshow', restart);
      end();
    };
  }, [client, subscription, key, pause, isVisible]);
  return failure;
}
