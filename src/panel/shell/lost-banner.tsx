import { retryNow } from '../api/connection.ts';
import { useLanguage } from '../language/language.tsx';
import { Banner } from '../parts/banner.tsx';

/** Says that the connection is lost, and since when. */
export function LostBanner({ since }: { readonly since: Date }) {
  const { t, f } = useLanguage();
  const button = (
    <button type='button' className='btn btn-s' onClick={() => void retryNow()}>
      {t.shell.tryNow}
    </button>
  );
  return <Banner tone='warn' title={t.shell.lost(f.moment(since))} action={button}>{t.shell.lostText}</Banner>;
}
