import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useEvents } from '../../api/live.ts';
import { useData } from '../../api/use.ts';
import { graphql } from '../../generated/index.ts';
import type { ClientPageQuery } from '../../generated/graphql.ts';
import { useLanguage } from '../../language/language.tsx';
import { Banner, Empty } from '../../parts/banner.tsx';
import { TrafficChart } from '../../parts/chart/traffic-chart.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Menu } from '../../parts/menu.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { useViewer } from '../../shell/viewer.tsx';
import { RecordChanges } from '../audit/record-changes.tsx';
import { HostsOfClient } from '../hosts/hosts-of-client.tsx';
import { TunnelsOfClient } from '../tunnels/tunnels-of-client.tsx';
import { AgentCard, type Rates } from './agent-card.tsx';
import { AgentSessions } from './agent-sessions.tsx';
import { useClientActions } from './client-actions.tsx';
import { ClientStateBadge, useClientState } from './client-state.tsx';
import { Connections } from './connections.tsx';
import { Limits } from './limits.tsx';
import { Refusals } from './refusals.tsx';
import { RunAgent } from './run-agent.tsx';

const clientQuery = graphql(`
  query ClientPage($id: ID!) {
    client(id: $id) {
      id remark enabled effectiveExpiresAt flowLimit
      owner { id username }
      runtime { connected connections rate lastOnlineAt endReason }
      tunnels(limit: 1) { total }
      hosts(limit: 1) { total }
      ...ClientState
      ...AgentCard
      ...RunAgent
      ...ClientLimits
    }
  }
`);
const changes = graphql(`
  subscription ClientChanged($id: ID!) { clientChanged(id: $id) { id client { id remark ...ClientState ...AgentCard } } }
`);
const traffic = graphql(`
  subscription ClientTraffic($id: ID!) { trafficEverySecond(resource: CLIENT, id: $id) { rate inletRate exportRate connections } }
`);

type Client = NonNullable<ClientPageQuery['client']>;
type Tab = 'tunnels' | 'hosts' | 'connections' | 'traffic' | 'sessions' | 'limits' | 'audit';

/** The counters of the page are read again after this many ms. */
const movingMs = 10_000;

/** `/clients/3`: a client's agent, and its parts. @param tab the part that is shown */
export default function ClientPage({ id = '', tab }: { readonly id?: string; readonly tab?: string }) {
  const { t } = useLanguage();
  const { data, error, refetch } = useData(clientQuery, { id }, { everyMs: movingMs });
  useEvents(changes, { id }, ({ clientChanged: { client } }) => {
    if (client === null) refetch();
  });
  const client = data?.client;
  if (client) return <Loaded client={client} tab={tab} onChange={refetch} />;
  return (
    <>
      <PageHead title={t.clients.nameless(id)} crumbs={[['/clients', t.clients.title]]} />
      {error?.graphQLErrors.some(({ extensions }) => extensions['code'] === 'NOT_FOUND') || data?.client === null
        ? (
          <div className='card'>
            <Empty icon='client' title={t.shell.recordMissing} />
          </div>
        )
        : error === undefined
        ? <Loading />
        : <Failure error={error} onRetry={refetch} />}
    </>
  );
}

function Loaded({ client, tab: asked, onChange }: { readonly client: Client; readonly tab: string | undefined; readonly onChange: () => void }) {
  const { t, f } = useLanguage();
  const { role, readOnly, isAdministrator } = useViewer();
  const [, navigate] = useLocation();
  const { startOrStop, resetTraffic, remove } = useClientActions().entries(client, onChange, (isDone) => isDone && navigate('/clients'));
  const [rates, setRates] = useState<Rates>();
  const tabs: readonly Tab[] = ['tunnels', 'hosts', 'connections', 'traffic', 'sessions', 'limits', ...(isAdministrator ? ['audit'] as const : [])];
  const tab = tabs.find((name) => name === asked) ?? 'tunnels';
  // One stream less while the connections are watched: a browser has six connections to a server.
  useEvents(traffic, { id: client.id }, ({ trafficEverySecond }) => setRates(trafficEverySecond), { pause: tab === 'connections' });
  const state = useClientState(client);
  const name = client.remark || t.clients.nameless(client.id);
  const counts: Partial<Record<Tab, number>> = { tunnels: client.tunnels.total, hosts: client.hosts.total, connections: client.runtime.connections };
  const { command } = t.clients;
  const isOwner = role !== 'CLIENT';
  const mayManage = !readOnly && isOwner;
  // The counters decide when a traffic limit is used up.
  const mayReset = isAdministrator || !client.flowLimit;
  return (
    <>
      <PageHead
        title={name}
        crumbs={isOwner ? [['/clients', t.clients.title]] : []}
        badge={<ClientStateBadge of={client} />}
        actions={
          <>
            <Link className='btn' href={`/diagnosis?client=${client.id}`}>
              <Icon name='diagnosis' />
              {t.actions.diagnose}
            </Link>
            {!readOnly && <Link className='btn' href={`/clients/${client.id}/edit`}>{t.actions.change}</Link>}
            {mayManage && (
              <Menu
                trigger={<Icon name='more' />}
                label={t.actions.more(name)}
                className='btn btn-icon'
                entries={[startOrStop, ...(mayReset ? [resetTraffic] : []), remove]}
              />
            )}
          </>
        }
      >
        #{client.id}
        {client.owner && (
          <>
            {' · '}
            {t.clients.owned + t.punctuation.colon}
            {isAdministrator ? <Link href={`/users/${client.owner.id}`}>{client.owner.username}</Link> : client.owner.username}
          </>
        )}
      </PageHead>
      <div aria-live='polite'>
        {state.name === 'away' && state.lastOnlineAt !== null && (
          <Banner
            tone='danger'
            title={t.clients.away(f.moment(state.lastOnlineAt), f.duration(Date.now() - Date.parse(state.lastOnlineAt)))}
          >
            {client.runtime.endReason && t.clients.ends[client.runtime.endReason] + t.punctuation.stop}
            {t.clients.awayText}
          </Banner>
        )}
        {state.name === 'neverSeen' && <Banner tone='accent' title={t.clients.never}>{t.clients.neverText}</Banner>}
        {state.name === 'disabled' && (
          <Banner
            tone='warn'
            title={t.clients.disabledBanner}
            action={mayManage && <button type='button' className='btn btn-s' onClick={startOrStop.onChoose}>{startOrStop.label}</button>}
          >
            {t.clients.disabledText}
          </Banner>
        )}
        {state.name === 'expired' && client.effectiveExpiresAt && (
          <Banner
            tone='danger'
            title={t.clients.expiredBanner(f.moment(client.effectiveExpiresAt))}
            action={mayManage && <Link className='btn btn-s' href={`/clients/${client.id}/edit`}>{t.problems.fixes.EXTEND_CLIENT}</Link>}
          >
            {t.clients.disabledText}
          </Banner>
        )}
      </div>
      <div className='cols even'>
        <section className='card lg-5' aria-labelledby='h-agent'>
          <div className='card-head'>
            <h2 id='h-agent'>{t.clients.agent.title}</h2>
          </div>
          <div className='card-body'>
            <AgentCard of={client} rates={rates} />
          </div>
        </section>
        <section className='card lg-7' aria-labelledby='h-command'>
          <div className='card-head'>
            <h2 id='h-command'>{command.title}</h2>
          </div>
          <div className='card-body'>
            <RunAgent of={client} />
          </div>
        </section>
      </div>
      <section className='card' aria-label={t.clients.tabs.label}>
        <nav ref={showCurrent} className='tabs' aria-label={t.clients.tabs.label}>
          {tabs.map((each) => (
            <Link key={each} href={`/clients/${client.id}/${each}`} aria-current={each === tab ? 'page' : undefined}>
              {t.clients.tabs[each]} {counts[each] !== undefined && <span className='count'>{f.number(counts[each])}</span>}
            </Link>
          ))}
        </nav>
        {tab === 'tunnels' && <TunnelsOfClient clientId={client.id} />}
        {tab === 'hosts' && <HostsOfClient clientId={client.id} />}
        {tab === 'connections' && <Connections clientId={client.id} />}
        {tab === 'traffic' && (
          <>
            <div className='card-body'>
              <TrafficChart resource='CLIENT' id={client.id} />
            </div>
            <Refusals clientId={client.id} />
          </>
        )}
        {tab === 'sessions' && <AgentSessions clientId={client.id} />}
        {tab === 'limits' && <Limits of={client} rate={rates?.rate ?? client.runtime.rate} />}
        {tab === 'audit' && <RecordChanges resource='CLIENT' id={client.id} />}
      </section>
    </>
  );
}

/** Scrolls a row of tabs that is wider than the screen to the current one, and not the page. */
function showCurrent(row: HTMLElement | null): void {
  const current = row?.querySelector('[aria-current=page]');
  if (row && current) row.scrollLeft += current.getBoundingClientRect().left - row.getBoundingClientRect().left - (row.clientWidth - current.clientWidth) / 2;
}
