import type { CombinedError } from 'urql';
import { lostSince } from '../api/connection.ts';
import { failureOf, statusOf } from '../api/failure.ts';
import { useStore } from '../api/store.ts';
import { useLanguage } from '../language/language.tsx';
import { Banner } from './banner.tsx';

/**
 * Why a request failed, where its result would be. Nothing while the connection is lost: the banner of the page says so.
 * @param isAlone the page has no such banner
 */
export function Failure(
  { error, isAlone = false, onRetry }: { readonly error: CombinedError | undefined; readonly isAlone?: boolean; readonly onRetry?: () => void },
) {
  const { t } = useLanguage();
  const lost = useStore(lostSince);
  if (error === undefined || statusOf(error) === 401 || (error.networkError && lost !== undefined && !isAlone)) return null;
  const { text } = failureOf(error, t);
  const button = onRetry && (
    <button type='button' className='btn btn-s' onClick={onRetry}>
      {t.actions.retry}
    </button>
  );
  return <Banner tone='danger' title={text} role='alert' action={button} />;
}
