import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { lostSince } from '../api/connection.ts';
import { useStore } from '../api/store.ts';
import { useLanguage } from '../language/language.tsx';
import { Loading } from '../parts/loading.tsx';
import { Pages } from '../routes.tsx';
import { LoginDialog } from './login.tsx';
import { LostBanner } from './lost-banner.tsx';
import { Navigation, useNavigation } from './navigation.tsx';
import { PageBoundary } from './page-boundary.tsx';
import { usePreload } from './preload.ts';
import { useShortcuts } from './shortcuts.ts';
import { Topbar } from './topbar.tsx';
import { useViewer, ViewerProvider } from './viewer.tsx';

const Palette = lazy(() => import('./palette.tsx'));
const ShortcutHelp = lazy(() => import('./shortcut-help.tsx'));

/** The frame of all pages with a session. */
export function Shell() {
  return (
    <ViewerProvider>
      <Frame />
      <LoginDialog />
    </ViewerProvider>
  );
}

function Frame() {
  const { t } = useLanguage();
  const [path] = useLocation();
  const [layer, setLayer] = useState<'none' | 'navigation' | 'palette' | 'help'>('none');
  const lost = useStore(lostSince);
  const main = useRef<HTMLElement>(null);
  const { role, readOnly } = useViewer();
  const navigation = useNavigation();
  usePreload();
  useShortcuts({
    pages: Object.values(navigation).flat().map(({ href }) => href),
    mayCreate: !readOnly && role !== 'CLIENT',
    onFind: () => setLayer('palette'),
    onHelp: () => setLayer('help'),
  });

  const shown = useRef(path);
  useEffect(() => {
    setLayer('none');
    // A new page is announced, and read from its start.
    if (shown.current === path) return;
    shown.current = path;
    main.current?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }, [path]);
  useEffect(() => {
    const { dataset } = document.documentElement;
    if (lost === undefined) delete dataset['state'];
    else dataset['state'] = 'stale';
  }, [lost]);
  useEffect(() => {
    const { dataset } = document.documentElement;
    if (layer === 'navigation') dataset['nav'] = 'open';
    else delete dataset['nav'];
    if (layer !== 'navigation') return undefined;
    const close = (event: Event): void => {
      const isOutside = event.type === 'pointerdown' && event.target instanceof Element && event.target.closest('#nav, .menu-toggle') === null;
      if (isOutside || (event instanceof KeyboardEvent && event.key === 'Escape')) setLayer('none');
    };
    document.addEventListener('pointerdown', close);
    document.addEventListener('keydown', close);
    return () => {
      document.removeEventListener('pointerdown', close);
      document.removeEventListener('keydown', close);
    };
  }, [layer]);

  return (
    <>
      <a
        className='skip'
        href='#main'
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        {t.shell.skip}
      </a>
      <div className='app'>
        <Navigation />
        <Topbar
          isMenuOpen={layer === 'navigation'}
          onMenu={() => setLayer(layer === 'navigation' ? 'none' : 'navigation')}
          onFind={() => setLayer('palette')}
        />
        <main id='main' tabIndex={-1} ref={main}>
          <div className='content'>
            {lost && <LostBanner since={lost} />}
            <PageBoundary key={path.split('/', 3).join('/')}>
              <Suspense fallback={<Loading />}>
                <Pages />
              </Suspense>
            </PageBoundary>
          </div>
        </main>
      </div>
      <Suspense>
        {layer === 'palette' && <Palette onClose={() => setLayer('none')} />}
        {layer === 'help' && <ShortcutHelp onClose={() => setLayer('none')} />}
      </Suspense>
    </>
  );
}
