import type { ReactNode } from 'react';
import { statusOf } from '../../api/failure.ts';
import { useData } from '../../api/use.ts';
import { graphql } from '../../generated/index.ts';
import { useLanguage } from '../../language/language.tsx';
import { Banner } from '../../parts/banner.tsx';
import { Failure } from '../../parts/failure.tsx';

const caller = graphql(`
  query WallCaller { viewer { readOnly } }
`);

/** Shows the screen only if its token cannot write. */
export function ReadOnly({ children }: { readonly children: ReactNode }) {
  const { t } = useLanguage();
  const { data, error } = useData(caller, {});
  const texts = t.dashboard.wall;
  // A token for wall screens may not even ask who it is.
  if (data?.viewer.readOnly === true || error?.graphQLErrors.some(({ extensions }) => extensions['code'] === 'FORBIDDEN') === true) return children;
  return (
    <main className='content'>
      <h1 className='visually-hidden'>{texts.title}</h1>
      {data !== undefined && <Banner tone='danger' role='alert' title={texts.mayWrite}>{texts.mayWriteText}</Banner>}
      {data === undefined && (statusOf(error) === 401 ? <Banner tone='danger' role='alert' title={texts.ended} /> : <Failure error={error} isAlone />)}
    </main>
  );
}
