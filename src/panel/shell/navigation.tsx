import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { useLanguage } from '../language/language.tsx';
import { Icon, type IconName, Logo } from '../parts/icon.tsx';
import { useViewer } from './viewer.tsx';

/** A page in the navigation. */
export interface NavigationEntry {
  readonly href: string;
  readonly icon: IconName;
  readonly name: string;
  readonly count?: number | undefined;
}

/** The pages that the viewer may open, by group. */
export function useNavigation(): {
  readonly work: readonly NavigationEntry[];
  readonly people: readonly NavigationEntry[];
  readonly server: readonly NavigationEntry[];
} {
  const { t } = useLanguage();
  const { role, client, server } = useViewer();
  const { nav } = t.shell;
  const { clients, tunnels, hosts, users } = server.counts;
  const diagnosis: NavigationEntry = { href: '/diagnosis', icon: 'diagnosis', name: nav.diagnosis };
  if (role === 'CLIENT') {
    return { work: [{ href: `/clients/${client?.id ?? ''}`, icon: 'client', name: nav.client }, diagnosis], people: [], server: [] };
  }
  const work: NavigationEntry[] = [
    { href: '/', icon: 'home', name: nav.dashboard },
    { href: '/clients', icon: 'client', name: nav.clients, count: clients.total },
    { href: '/tunnels', icon: 'tunnel', name: nav.tunnels, count: tunnels.total },
    { href: '/hosts', icon: 'host', name: nav.hosts, count: hosts.total },
    diagnosis,
  ];
  const tokens: NavigationEntry = { href: '/tokens', icon: 'key', name: nav.tokens };
  if (role === 'USER') return { work, people: [tokens], server: [] };
  return {
    work,
    people: [
      { href: '/users', icon: 'users', name: nav.users, count: users?.total },
      { href: '/audit', icon: 'audit', name: nav.audit },
      tokens,
      { href: '/sessions', icon: 'session', name: nav.sessions },
      { href: '/lockouts', icon: 'lock', name: nav.lockouts },
    ],
    server: [
      { href: '/platform-domains', icon: 'domain', name: nav.domains },
      { href: '/settings', icon: 'gear', name: nav.settings },
      { href: '/wall', icon: 'wall', name: nav.wall },
    ],
  };
}

/** The side bar. */
export function Navigation() {
  const { t } = useLanguage();
  const { server } = useViewer();
  const { work, people, server: pages } = useNavigation();
  return (
    <nav className='sidebar' id='nav' aria-label={t.shell.mainNavigation}>
      <Link className='brand' href='/'>
        <Logo />
        Adit<small>{server.version}</small>
      </Link>
      <div className='nav-group'>{work.map((entry) => <Entry key={entry.href} entry={entry} />)}</div>
      {people.length > 0 && <Group title={t.shell.people}>{people.map((entry) => <Entry key={entry.href} entry={entry} />)}</Group>}
      {pages.length > 0 && <Group title={t.shell.server}>{pages.map((entry) => <Entry key={entry.href} entry={entry} />)}</Group>}
      <div className='sidebar-foot'>
        <span>{server.publicAddress ?? location.hostname}</span>
      </div>
    </nav>
  );
}

function Group({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div className='nav-group' role='group' aria-label={title}>
      <div className='nav-title' aria-hidden='true'>{title}</div>
      {children}
    </div>
  );
}

function Entry({ entry: { href, icon, name, count } }: { readonly entry: NavigationEntry }) {
  const { f } = useLanguage();
  const [path] = useLocation();
  const isCurrent = href === '/' ? path === '/' : path === href || path.startsWith(`${href}/`);
  return (
    <Link className='nav-link' href={href} aria-current={isCurrent ? 'page' : undefined}>
      <Icon name={icon} />
      <span>{name}</span>
      {count !== undefined && <span className='count'>{f.number(count)}</span>}
    </Link>
  );
}
