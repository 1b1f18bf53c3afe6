import { type FragmentType, graphql, unmask } from '../../generated/index.ts';
import { useLanguage } from '../../language/language.tsx';
import { useViewer } from '../../shell/viewer.tsx';

const agentCard = graphql(`
  fragment AgentCard on Client {
    createdAt effectiveExpiresAt blocklist allowlistEnabled allowlist
    runtime { connected address localAddress version connections rate lastOnlineAt refusals { cause count } }
  }
`);

/** What the server knows of a client's agent. @param rate bytes per second now; undefined = the rate of the last reading */
export function AgentCard({ of, rate }: { readonly of: FragmentType<typeof agentCard>; readonly rate: number | undefined }) {
  const { t, f } = useLanguage();
  const { server } = useViewer();
  const client = unmask(agentCard, of);
  const { runtime } = client;
  const { agent } = t.clients;
  const refused = runtime.refusals.reduce((sum, { count }) => sum + count, 0);
  const known = (text: string | null | undefined) => text ?? <span className='muted'>{t.words.unknown}</span>;
  return (
    <dl className='kv'>
      <dt>{agent.address}</dt>
      <dd className='mono'>{known(runtime.address)}</dd>
      <dt>{agent.local}</dt>
      <dd className='mono'>{known(runtime.localAddress)}</dd>
      <dt>{agent.version}</dt>
      <dd>
        {known(runtime.version)}{' '}
        {runtime.version !== null && runtime.version !== undefined && (
          <span className='muted'>({runtime.version === server.version ? agent.sameVersion : agent.otherVersion(server.version)})</span>
        )}
      </dd>
      <dt>{agent.movesNow}</dt>
      <dd data-moves>
        <strong>{f.rate(rate ?? runtime.rate)}</strong> <span className='muted'>{agent.over(runtime.connections)}</span>
      </dd>
      {!runtime.connected && (
        <>
          <dt>{agent.lastOnline}</dt>
          <dd>{runtime.lastOnlineAt ? <time dateTime={runtime.lastOnlineAt}>{f.moment(runtime.lastOnlineAt)}</time> : t.words.notYet}</dd>
        </>
      )}
      <dt>{agent.refused}</dt>
      <dd>
        {f.number(refused)} <span className='muted'>{agent.refusedSince}</span>
        {refused > 0 && (
          <span className='muted'>: {runtime.refusals.map(({ cause, count }) => `${f.number(count)} ${t.clients.refusals[cause]}`).join(', ')}</span>
        )}
      </dd>
      <dt>{agent.admitted}</dt>
      <dd>
        {client.allowlistEnabled
          ? agent.admittedList(client.allowlist.length)
          : client.blocklist.length > 0
          ? agent.admittedBut(client.blocklist.length)
          : agent.admittedAll}
      </dd>
      <dt>{agent.created}</dt>
      <dd>
        <time dateTime={client.createdAt}>{f.moment(client.createdAt)}</time>
      </dd>
      <dt>{agent.expires}</dt>
      <dd>{client.effectiveExpiresAt ? <time dateTime={client.effectiveExpiresAt}>{f.moment(client.effectiveExpiresAt)}</time> : t.words.never}</dd>
    </dl>
  );
}
