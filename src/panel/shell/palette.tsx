import { Dialog } from '@base-ui/react/dialog';
import { type KeyboardEvent, useEffect, useEffectEvent, useId, useState } from 'react';
import { useLocation } from 'wouter';
import { useData } from '../api/use.ts';
import { graphql } from '../generated/index.ts';
import { type Language, useLanguage } from '../language/language.tsx';
import type { PaletteQuery } from '../generated/graphql.ts';
import { Icon, type IconName } from '../parts/icon.tsx';
import { requestOf } from '../pages/diagnosis/request.ts';
import { hostName } from '../pages/hosts/host-name.ts';
import { type NavigationEntry, useNavigation } from './navigation.tsx';
import { useViewer } from './viewer.tsx';

const paletteQuery = graphql(`
  query Palette($search: String!, $isAdministrator: Boolean!) {
    search(text: $search) {
      clients { id remark runtime { connected address } }
      tunnels { id remark port mode client { id remark } }
      hosts { id host location client { id remark } }
      users @include(if: $isAdministrator) { id username }
    }
    globalSettings @include(if: $isAdministrator) { serverUrl blocklist }
    platformDomains @include(if: $isAdministrator) { id wildcard }
  }
`);

/** Typing pauses for this many ms before the server searches. */
const pauseMs = 120;

interface Hit {
  readonly key: string;
  readonly icon: IconName;
  readonly text: string;
  readonly more: string;
  readonly href: string;
}

interface Group {
  readonly title: string;
  readonly hits: readonly Hit[];
}

/** Finds clients, tunnels, hosts, users, settings and pages by any of their texts, and offers actions. A combobox: the focus stays in the field. */
export default function Palette({ onClose }: { readonly onClose: () => void }) {
  const language = useLanguage();
  const { t } = language;
  const { isAdministrator, readOnly, role } = useViewer();
  const [, navigate] = useLocation();
  const navigation = useNavigation();
  const [text, setText] = useState('');
  const [search, setSearch] = useState('');
  const [chosen, setChosen] = useState(0);
  /** Enter was pressed before the server answered. */
  const [isEntered, setEntered] = useState(false);
  const id = useId();
  // The panel shows ids as #12.
  const wanted = text.trim().replace(/^#(?=\d+$)/, '');
  useEffect(() => {
    const timer = setTimeout(() => setSearch(wanted), pauseMs);
    return () => clearTimeout(timer);
  }, [wanted]);
  useEffect(() => setChosen(0), [search]);
  const { data, isAsking } = useData(paletteQuery, { search, isAdministrator }, { pause: search === '' });
  const isSearching = wanted !== '' && (wanted !== search || isAsking);
  const needle = text.trim().toLowerCase();
  const rarePages: readonly NavigationEntry[] = [
    ...(role === 'CLIENT' ? [] : [{ href: '/welcome', icon: 'home', name: t.shell.nav.welcome } as const]),
    ...(role === 'USER' ? [{ href: '/account', icon: 'key', name: t.shell.nav.password } as const] : []),
  ];
  const pages: readonly Hit[] = [...Object.values(navigation).flat(), ...(needle === '' ? [] : rarePages)]
    .filter(({ name }) => name.toLowerCase().includes(needle))
    .map(({ href, icon, name }) => ({ key: `page-${href}`, icon, text: name, more: '', href }));
  const found = search === '' ? undefined : data;
  const groups = [
    ...(found === undefined ? [] : groupsOf(found, language)),
    {
      title: t.shell.nav.settings,
      hits: isAdministrator && needle !== '' ? settingsOf(found, needle, language) : [],
    },
    { title: t.shell.palette.pages, hits: pages },
    {
      title: t.shell.palette.actions,
      hits: actionsOf(text, found, language, readOnly),
    },
  ].filter(({ hits }) => hits.length > 0);
  const hits = groups.flatMap((group) => group.hits);
  const current = hits[Math.min(chosen, hits.length - 1)];
  const go = (hit: Hit | undefined): void => {
    if (hit === undefined) return;
    onClose();
    navigate(hit.href);
  };

  function onKey(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && hits.length > 0) {
      event.preventDefault();
      const next = (chosen + step + hits.length) % hits.length;
      setChosen(next);
      document.getElementById(`${id}-${hits[next]?.key ?? ''}`)?.scrollIntoView({ block: 'nearest' });
    } else if (event.key === 'Enter') {
      event.preventDefault();
      setEntered(true);
    }
  }
  const goNow = useEffectEvent(() => {
    setEntered(false);
    go(current);
  });
  useEffect(() => {
    if (isEntered && !isSearching) goNow();
  }, [isEntered, isSearching]);

  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className='backdrop' />
        <Dialog.Popup className='dialog palette modal' aria-label={t.shell.palette.open}>
          <input
            className='input'
            role='combobox'
            aria-label={t.shell.palette.label}
            aria-expanded='true'
            aria-controls={`${id}-list`}
            aria-autocomplete='list'
            aria-activedescendant={current && `${id}-${current.key}`}
            autoComplete='off'
            autoFocus
            value={text}
            placeholder={t.shell.palette.label}
            onChange={({ target }) => {
              setText(target.value);
              setEntered(false);
            }}
            onKeyDown={onKey}
          />
          <div className='palette-list' id={`${id}-list`} role='listbox' aria-label={t.shell.palette.results}>
            {groups.map(({ title, hits: found }) => (
              <div key={title} role='group' aria-label={title}>
                <div role='presentation'>{title}</div>
                {found.map((hit) => (
                  <div
                    key={hit.key}
                    id={`${id}-${hit.key}`}
                    role='option'
                    aria-selected={hit === current}
                    onClick={() => go(hit)}
                    onPointerMove={() => setChosen(hits.indexOf(hit))}
                  >
                    <Icon name={hit.icon} />
                    <span>{hit.text}</span>
                    <span className='muted'>{hit.more}</span>
                  </div>
                ))}
              </div>
            ))}
          </div>
          {hits.length === 0 && <p className='muted palette-foot' role='status'>{isSearching ? t.shell.palette.searching : t.shell.palette.nothing}</p>}
          <div className='palette-foot' aria-hidden='true'>
            <span>
              <kbd>↑</kbd> <kbd>↓</kbd> {t.shell.palette.choose}
            </span>
            <span>
              <kbd>↵</kbd> {t.shell.palette.go}
            </span>
            <span>
              <kbd>Esc</kbd> {t.shell.palette.close}
            </span>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function groupsOf({ search: { clients, tunnels, hosts, users } }: PaletteQuery, { t }: Language): readonly Group[] {
  const nameOf = ({ id, remark }: { readonly id: string; readonly remark: string }): string => remark || t.clients.nameless(id);
  return [
    {
      title: t.shell.nav.clients,
      // Those that are away need attention first.
      hits: clients.toSorted((one, other) => Number(one.runtime.connected) - Number(other.runtime.connected)).map((client) => ({
        key: `client-${client.id}`,
        icon: 'client' as const,
        text: nameOf(client),
        more: client.runtime.connected ? client.runtime.address ?? '' : t.states.away,
        href: `/clients/${client.id}`,
      })),
    },
    {
      title: t.shell.nav.tunnels,
      hits: tunnels.map(({ id, remark, port, mode, client }) => ({
        key: `tunnel-${id}`,
        icon: 'tunnel' as const,
        text: `${remark || t.tunnels.nameless(id)}${port ? ` :${port}` : ''}`,
        more: `${t.tunnels.short[mode]} · ${nameOf(client)}`,
        href: `/tunnels/${id}`,
      })),
    },
    {
      title: t.shell.nav.hosts,
      hits: hosts.map(({ id, host, location: path, client }) => ({
        key: `host-${id}`,
        icon: 'host' as const,
        text: hostName({ host, location: path }),
        more: nameOf(client),
        href: `/hosts/${id}`,
      })),
    },
    {
      title: t.shell.palette.users,
      hits: (users ?? []).map(({ id, username }) => ({ key: `user-${id}`, icon: 'users' as const, text: username, more: '', href: `/users/${id}` })),
    },
  ];
}

/** The settings, each with its name, its explanation and its value: all of them are searched. */
function settingsOf(data: PaletteQuery | undefined, needle: string, { t }: Language): readonly Hit[] {
  const { labels, hints, title, version, startedAt, retention, publicAddress, bridge, fingerprint, hosts } = t.server.settings;
  const { domains } = t.server;
  const serverUrl = data?.globalSettings?.serverUrl ?? '';
  const all: ReadonlyArray<readonly [href: string, name: string, more: string, texts: string]> = [
    ['/settings', labels.serverUrl, serverUrl || title, hints.serverUrl],
    ['/settings', labels.blocklist, title, [hints.blocklist, ...data?.globalSettings?.blocklist ?? []].join(' ')],
    ...[version, startedAt, retention, publicAddress, bridge, fingerprint, hosts].map((name) => ['/settings', name, title, ''] as const),
    ...(data?.platformDomains ?? []).map(({ wildcard }) => ['/platform-domains', wildcard, domains.title, ''] as const),
  ];
  return all.filter(([, name, more, texts]) => `${name} ${more === title ? '' : more} ${texts}`.toLowerCase().includes(needle))
    .map(([href, text, more]) => ({ key: `setting-${text}`, icon: href === '/settings' ? 'gear' as const : 'domain' as const, text, more, href }));
}

function actionsOf(text: string, data: PaletteQuery | undefined, { t }: Language, readOnly: boolean): readonly Hit[] {
  const url = text.includes('.') ? requestOf(text) : undefined;
  const first = data?.search.clients[0];
  const name = first && (first.remark || t.clients.nameless(first.id));
  return [
    ...(url
      ? [{
        key: 'diagnose',
        icon: 'diagnosis' as const,
        text: t.shell.palette.diagnose(text.trim()),
        more: '',
        href: `/diagnosis?url=${encodeURIComponent(text.trim())}`,
      }]
      : []),
    ...(first && name !== undefined && !readOnly
      ? [
        { key: 'new-tunnel', icon: 'plus' as const, text: t.shell.palette.newTunnelFor(name), more: '', href: `/tunnels/new?client=${first.id}` },
        { key: 'new-host', icon: 'plus' as const, text: t.shell.palette.newHostFor(name), more: '', href: `/hosts/new?client=${first.id}` },
      ]
      : []),
  ];
}
