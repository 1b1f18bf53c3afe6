import { Link } from 'wouter';
import { useLanguage } from '../language/language.tsx';
import { Empty } from '../parts/banner.tsx';
import { PageHead } from '../parts/page-head.tsx';

/** An address without a page. */
export default function NotFound() {
  const { t } = useLanguage();
  return (
    <>
      <PageHead title={t.shell.notFound} />
      <div className='card'>
        <Empty
          icon='search'
          title={t.shell.notFoundText}
          action={<Link className='btn' href='/'>{t.shell.nav.dashboard}</Link>}
        />
      </div>
    </>
  );
}
