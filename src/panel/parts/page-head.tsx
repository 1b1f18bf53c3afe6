import { type ReactNode, useEffect } from 'react';
import { Link } from 'wouter';
import { useLanguage } from '../language/language.tsx';
import { useViewer } from '../shell/viewer.tsx';

/** The head of a page: where it is, its title, its actions. Sets the title of the browser's tab. */
export function PageHead({ title, badge, crumbs = [], children, actions }: {
  readonly title: string;
  readonly badge?: ReactNode;
  /** The pages above this one, as address and name. */
  readonly crumbs?: ReadonlyArray<readonly [string, string]>;
  /** A line below the title. */
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
}) {
  const { t } = useLanguage();
  const { readOnly } = useViewer();
  useEffect(() => {
    document.title = `${title} · Adit`;
  }, [title]);
  return (
    <div className='page-head'>
      <div>
        {crumbs.length > 0 && (
          <nav aria-label={t.shell.way}>
            <ol className='crumbs'>
              {crumbs.map(([href, name]) => (
                <li key={href}>
                  <Link href={href}>{name}</Link>
                </li>
              ))}
            </ol>
          </nav>
        )}
        <div className='row'>
          <h1>{title}</h1>
          {badge}
          {readOnly && <span className='badge'>{t.shell.readOnly}</span>}
        </div>
        {children !== undefined && <p>{children}</p>}
      </div>
      {actions !== undefined && <div className='actions'>{actions}</div>}
    </div>
  );
}
