import { useLanguage } from '../language/language.tsx';
import { Empty } from './banner.tsx';

/** A list whose filters find nothing. */
export function NothingMatches({ onClear }: { readonly onClear: () => void }) {
  const { t } = useLanguage();
  const button = (
    <button type='button' className='btn' onClick={onClear}>
      {t.actions.clear}
    </button>
  );
  return <Empty icon='search' title={t.list.nothingMatches} action={button}>{t.list.nothingMatchesText}</Empty>;
}
