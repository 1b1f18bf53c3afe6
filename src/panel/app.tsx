import { Suspense, useMemo } from 'react';
import { Provider } from 'urql';
import { Route, Router, Switch } from 'wouter';
import { createClient } from './api/client.ts';
import { base } from './base.ts';
import { ConfirmProvider } from './parts/confirm.tsx';
import { unsaved } from './parts/form.tsx';
import { ToastProvider } from './parts/toast.tsx';
import { LoginPage } from './shell/login.tsx';
import { Shell } from './shell/shell.tsx';
import { useLanguage } from './language/language.tsx';
import { WallPage } from './routes.tsx';
import { PageBoundary } from './shell/page-boundary.tsx';

/** The panel. The login and the wall have no frame; every other page is inside of the shell. */
export function App() {
  const client = useMemo(() => createClient(), []);
  const { t } = useLanguage();
  return (
    <Router
      base={base}
      aroundNav={(navigate, to, options) => {
        // The browser's own question, since the page must not change before it is answered.
        // oxlint-disable-next-line eslint/no-alert
        if (!unsaved.get() || confirm(t.form.unsaved)) navigate(to, options);
      }}
    >
      <ToastProvider>
        <Switch>
          <Route path='/login/index'>
            <LoginPage />
          </Route>
          <Route path='/wall'>
            <PageBoundary>
              <Suspense>
                <WallPage />
              </Suspense>
            </PageBoundary>
          </Route>
          <Route>
            {/* Questions ask the server what else is affected. */}
            <Provider value={client}>
              <ConfirmProvider>
                <Shell />
              </ConfirmProvider>
            </Provider>
          </Route>
        </Switch>
      </ToastProvider>
    </Router>
  );
}
