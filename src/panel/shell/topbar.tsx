import { useLocation } from 'wouter';
import { lostSince } from '../api/connection.ts';
import { logOut } from '../api/session.ts';
import { useStore } from '../api/store.ts';
import { base } from '../base.ts';
import { useLanguage } from '../language/language.tsx';
import { Icon } from '../parts/icon.tsx';
import { Menu, type MenuEntry } from '../parts/menu.tsx';
import { Mark } from '../parts/state.tsx';
import { switchTheme } from './theme.ts';
import { useViewer } from './viewer.tsx';

/** The bar at the top: find, connection, language, theme, account. */
export function Topbar({ isMenuOpen, onMenu, onFind }: { readonly isMenuOpen: boolean; readonly onMenu: () => void; readonly onFind: () => void }) {
  const { t, code, choose } = useLanguage();
  const lost = useStore(lostSince);
  const { role, name } = useViewer();
  const [, navigate] = useLocation();
  const account: MenuEntry[] = [
    ...(role === 'USER' ? [{ label: t.shell.nav.password, onChoose: () => navigate('/account') }] : []),
    { label: t.shell.nav.api, onChoose: () => location.assign(`${base}/api`) },
    { label: t.shell.nav.graphql, onChoose: () => location.assign(`${base}/graphql`) },
    { label: t.shell.logOut, onChoose: logOut },
  ];
  return (
    <header className='topbar'>
      <button
        type='button'
        className='btn btn-ghost btn-icon menu-toggle'
        aria-expanded={isMenuOpen}
        aria-controls='nav'
        aria-label={t.shell.menu}
        onClick={onMenu}
      >
        <Icon name='menu' />
      </button>
      <button type='button' className='find' onClick={onFind}>
        <Icon name='search' />
        <span>{t.shell.palette.open}</span>
        <kbd>Ctrl K</kbd>
      </button>
      <div className='topbar-end'>
        <span className='live' role='status'>
          <span className={lost === undefined ? 'when-live' : 'when-stale'}>
            <Mark tone={lost === undefined ? 'ok' : 'warn'} />
            <span className='hide-narrow' aria-hidden='true'>{lost === undefined ? t.shell.live : t.shell.reconnecting}</span>
            <span className='visually-hidden'>{lost === undefined ? t.shell.liveLong : t.shell.reconnecting}</span>
          </span>
        </span>
        <button
          type='button'
          className='btn btn-ghost btn-icon'
          aria-label={t.shell.otherLanguage}
          title={t.shell.otherLanguage}
          onClick={() => choose(code === 'zh' ? 'en' : 'zh')}
        >
          <Icon name='language' />
        </button>
        <button type='button' className='btn btn-ghost btn-icon' aria-label={t.shell.theme} onClick={switchTheme}>
          <Icon name='theme' />
        </button>
        <Menu
          trigger={<span className='avatar' aria-hidden='true'>{name.charAt(0).toUpperCase()}</span>}
          label={t.shell.account(name)}
          className='btn btn-ghost btn-icon'
          entries={account}
        />
      </div>
    </header>
  );
}
