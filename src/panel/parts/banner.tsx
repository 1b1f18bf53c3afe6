import type { ReactNode } from 'react';
import { useLanguage } from '../language/language.tsx';
import { Icon, type IconName } from './icon.tsx';

const icons: Record<'warn' | 'danger' | 'ok' | 'accent', IconName> = { warn: 'warn', danger: 'stop', ok: 'check', accent: 'info' };

/** A message at the top of a page or card. @param action buttons at its end */
export function Banner({ tone, title, children, action, role = 'status' }: {
  readonly tone: keyof typeof icons;
  readonly title: ReactNode;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
  readonly role?: 'status' | 'alert' | 'note';
}) {
  const { t } = useLanguage();
  return (
    <div className={`banner banner-${tone}`} role={role}>
      <Icon name={icons[tone]} />
      <div>
        <strong>{title}</strong>
        {t.punctuation.gap}
        {children}
      </div>
      {action !== undefined && <div className='actions'>{action}</div>}
    </div>
  );
}

/** What a list or card shows when it is empty: what it is for, and the first step. */
export function Empty({ icon, title, children, action }: {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}) {
  return (
    <div className='empty'>
      <Icon name={icon} />
      <h2>{title}</h2>
      {children !== undefined && <p>{children}</p>}
      {action !== undefined && <div className='actions'>{action}</div>}
    </div>
  );
}
