import type { CombinedError } from 'urql';
import { failureOf, statusOf } from '../api/failure.ts';
import { useLanguage } from '../language/language.tsx';
import { Banner } from './banner.tsx';

/** Why a request failed, where its result would be. Nothing while the connection is lost: the banner of the page says so. */
export function Failure({ error, onRetry }: { readonly error: CombinedError | undefined; readonly onRetry?: () => void }) {
  const { t } = useLanguage();
  if (error === undefined || statusOf(error) === 401) return null;
  const { text } = failureOf(error, t);
  const button = onRetry && (
    <button type='button' className='btn btn-s' onClick={onRetry}>
      {t.actions.retry}
    </button>
  );
  return <Banner tone='danger' title={text} role='alert' action={button} />;
}
