import { useLanguage } from '../language/language.tsx';

/** Stands for a part of a page that is being loaded. */
export function Loading() {
  const { t } = useLanguage();
  return (
    <div role='status'>
      <span className='skeleton w-50' />
      <span className='visually-hidden'>{t.list.loading}</span>
    </div>
  );
}
