import { lazy } from 'react';
import { Redirect, Route, Switch } from 'wouter';
import { useViewer } from './shell/viewer.tsx';

/** The wall screen, which is outside of the frame. */
export const WallPage = lazy(() => import('./pages/wall.tsx'));

const Account = lazy(() => import('./pages/account.tsx'));
const Audit = lazy(() => import('./pages/audit/audit.tsx'));
const ClientForm = lazy(() => import('./pages/clients/client-form.tsx'));
const ClientPage = lazy(() => import('./pages/clients/client.tsx'));
const Clients = lazy(() => import('./pages/clients/clients.tsx'));
const Dashboard = lazy(() => import('./pages/dashboard.tsx'));
const Diagnosis = lazy(() => import('./pages/diagnosis.tsx'));
const HostForm = lazy(() => import('./pages/hosts/host-form.tsx'));
const Hosts = lazy(() => import('./pages/hosts/hosts.tsx'));
const Lockouts = lazy(() => import('./pages/lockouts.tsx'));
const NotFound = lazy(() => import('./pages/not-found.tsx'));
const PlatformDomains = lazy(() => import('./pages/platform-domains.tsx'));
const Sessions = lazy(() => import('./pages/sessions.tsx'));
const Settings = lazy(() => import('./pages/settings.tsx'));
const Tokens = lazy(() => import('./pages/tokens.tsx'));
const TunnelForm = lazy(() => import('./pages/tunnels/tunnel-form.tsx'));
const Tunnels = lazy(() => import('./pages/tunnels/tunnels.tsx'));
const UserForm = lazy(() => import('./pages/users/user-form.tsx'));
const Users = lazy(() => import('./pages/users/users.tsx'));
const Welcome = lazy(() => import('./pages/welcome.tsx'));

/** The page at the current address. Each page is loaded when it is first opened. */
export function Pages() {
  const { role, client } = useViewer();
  return (
    <Switch>
      <Route path='/'>{role === 'CLIENT' ? <Redirect to={`/clients/${client?.id ?? ''}`} replace /> : <Dashboard />}</Route>
      <Route path='/clients'>{role === 'CLIENT' ? <Redirect to={`/clients/${client?.id ?? ''}`} replace /> : <Clients />}</Route>
      <Route path='/clients/new'>
        <ClientForm />
      </Route>
      <Route path='/clients/:id/edit'>{({ id }) => <ClientForm id={id} />}</Route>
      <Route path='/clients/:id/:tab?'>{({ id, tab }) => <ClientPage id={id} tab={tab} />}</Route>
      <Route path='/tunnels'>
        <Tunnels />
      </Route>
      <Route path='/tunnels/new'>
        <TunnelForm />
      </Route>
      <Route path='/tunnels/:id'>{({ id }) => <TunnelForm id={id} />}</Route>
      <Route path='/hosts'>
        <Hosts />
      </Route>
      <Route path='/hosts/new'>
        <HostForm />
      </Route>
      <Route path='/hosts/:id'>{({ id }) => <HostForm id={id} />}</Route>
      <Route path='/diagnosis'>
        <Diagnosis />
      </Route>
      {/* The addresses of the older API: its callers open these pages. */}
      <Route path='/index/hostdiagnose'>
        <Diagnosis />
      </Route>
      <Route path='/global/index'>
        <Settings />
      </Route>
      <Route path='/welcome'>
        <Welcome />
      </Route>
      <Route path='/users'>
        <Users />
      </Route>
      <Route path='/users/new'>
        <UserForm />
      </Route>
      <Route path='/users/:id'>{({ id }) => <UserForm id={id} />}</Route>
      <Route path='/audit'>
        <Audit />
      </Route>
      <Route path='/tokens'>
        <Tokens />
      </Route>
      <Route path='/sessions'>
        <Sessions />
      </Route>
      <Route path='/lockouts'>
        <Lockouts />
      </Route>
      <Route path='/platform-domains'>
        <PlatformDomains />
      </Route>
      <Route path='/settings'>
        <Settings />
      </Route>
      <Route path='/account'>
        <Account />
      </Route>
      <Route>
        <NotFound />
      </Route>
    </Switch>
  );
}
