import { type ComponentType, lazy } from 'react';
import { matchRoute, type Parser, Redirect, Route, Switch } from 'wouter';
import { useViewer, type ViewerState } from './shell/viewer.tsx';

/** What an address says besides the page: `/clients/3/traffic`. */
interface PageProps {
  readonly id?: string;
  readonly tab?: string;
}

interface Page {
  /** Its addresses. */
  readonly paths: readonly string[];
  readonly load: () => Promise<{ readonly default: ComponentType<PageProps> }>;
  readonly Content: ComponentType<PageProps>;
  /** Who may use it; absent = everybody. For others, the address has no page: they must not see forms that the server refuses. */
  readonly roles?: ReadonlyArray<ViewerState['role']>;
}

/** A page is loaded when its link is about to be used, or when it is opened. */
function page(load: Page['load'], ...paths: readonly string[]): Page {
  return { paths, load, Content: lazy(load) };
}

function forAdministrators(...args: Parameters<typeof page>): Page {
  return { ...page(...args), roles: ['ADMINISTRATOR'] };
}

/** Not for the web login of a client. */
function forUsers(...args: Parameters<typeof page>): Page {
  return { ...page(...args), roles: ['ADMINISTRATOR', 'USER'] };
}

/** The wall screen, which is outside of the frame. */
const wall = page(() => import('./pages/wall.tsx'), '/wall');
/** The first one with the address counts. */
const pages: readonly Page[] = [
  page(() => import('./pages/dashboard.tsx'), '/'),
  page(() => import('./pages/clients/clients.tsx'), '/clients'),
  page(() => import('./pages/clients/client-form.tsx'), '/clients/new', '/clients/:id/edit'),
  page(() => import('./pages/clients/client.tsx'), '/clients/:id/:tab?'),
  page(() => import('./pages/tunnels/tunnels.tsx'), '/tunnels'),
  page(() => import('./pages/tunnels/tunnel-form.tsx'), '/tunnels/new', '/tunnels/:id'),
  page(() => import('./pages/hosts/hosts.tsx'), '/hosts'),
  page(() => import('./pages/hosts/host-form.tsx'), '/hosts/new', '/hosts/:id'),
  // With the address of the older API: its callers open the page.
  page(() => import('./pages/diagnosis.tsx'), '/diagnosis', '/index/hostdiagnose'),
  forUsers(() => import('./pages/welcome.tsx'), '/welcome'),
  forAdministrators(() => import('./pages/users/users.tsx'), '/users'),
  forAdministrators(() => import('./pages/users/user-form.tsx'), '/users/new', '/users/:id'),
  forAdministrators(() => import('./pages/audit/audit.tsx'), '/audit'),
  forUsers(() => import('./pages/tokens.tsx'), '/tokens'),
  forAdministrators(() => import('./pages/sessions.tsx'), '/sessions'),
  forAdministrators(() => import('./pages/lockouts.tsx'), '/lockouts'),
  forAdministrators(() => import('./pages/platform-domains.tsx'), '/platform-domains'),
  // With the address of the older API, too.
  forAdministrators(() => import('./pages/settings.tsx'), '/settings', '/global/index'),
  page(() => import('./pages/account.tsx'), '/account'),
];
const NotFound = lazy(() => import('./pages/not-found.tsx'));

/** The wall screen. */
export const WallPage = wall.Content;

/** The page at the current address. */
export function Pages() {
  const { role, client } = useViewer();
  return (
    <Switch>
      {role === 'CLIENT' && ['/', '/clients', '/clients/new', '/tunnels', '/hosts'].map((path) => (
        <Route key={path} path={path}>
          <Redirect to={`/clients/${client?.id ?? ''}`} replace />
        </Route>
      ))}
      {pages.filter(({ roles }) => roles?.includes(role) ?? true).map(({ paths, Content }) =>
        paths.map((path) => <Route key={path} path={path}>{(values: PageProps) => <Content {...values} />}</Route>)
      )}
      <Route>
        <NotFound />
      </Route>
    </Switch>
  );
}

/** Loads the page at an address before it is opened. */
export function loadPage(path: string, parser: Parser): void {
  const next = [...pages, wall].find(({ paths }) => paths.some((pattern) => matchRoute(parser, pattern, path)[0]));
  // A failure is shown when the page is opened.
  next?.load().catch(() => undefined);
}
