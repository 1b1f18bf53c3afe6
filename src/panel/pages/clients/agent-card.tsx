import { type FragmentType, graphql, unmask } from '../../generated/index.ts';
import { useLanguage } from '../../language/language.tsx';
import { useViewer } from '../../shell/viewer.tsx';

const agentCard = graphql(`
  fragment AgentCard on Client {
    createdAt effectiveExpiresAt blocklist allowlistEnabled allowlist
    runtime {
      connected connectedSince lastHeardAt home secure endReason address localAddress version connections rate inletRate exportRate lastOnlineAt refusals { cause count }
    }
  }
`);

/** Bytes per second now. */
export interface Rates {
  /** In both directions. */
  readonly rate: number;
  readonly inletRate: number;
  readonly exportRate: number;
}

/** What the server knows of a client's agent. @param rates undefined = those of the last reading */
export function AgentCard({ of, rates }: { readonly of: FragmentType<typeof agentCard>; readonly rates: Rates | undefined }) {
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
        {known(runtime.version)}
        {runtime.version !== null && runtime.version !== undefined && (
          <span className='muted'>{t.punctuation.brackets(runtime.version === server.version ? agent.sameVersion : agent.otherVersion(server.version))}</span>
        )}
      </dd>
      <dt>{agent.movesNow}</dt>
      <dd data-moves>
        <strong>{f.rate((rates ?? runtime).rate)}</strong> <span className='muted'>{agent.over(runtime.connections)}</span>
        <span className='sub'>{t.traffic.directions(f.rate((rates ?? runtime).exportRate), f.rate((rates ?? runtime).inletRate))}</span>
      </dd>
      {runtime.connectedSince && (
        <>
          <dt>{agent.online}</dt>
          <dd>
            <time dateTime={runtime.connectedSince}>{f.moment(runtime.connectedSince)}</time>
            <span className='muted'>
              {t.punctuation.brackets(
                f.duration(Date.now() - Date.parse(runtime.connectedSince)) + t.punctuation.comma + (runtime.secure ? agent.tls : agent.plain),
              )}
            </span>
            {runtime.lastHeardAt && <span className='sub'>{agent.heard(t.words.ago(f.duration(Date.now() - Date.parse(runtime.lastHeardAt))))}</span>}
          </dd>
        </>
      )}
      {runtime.home && (
        <>
          <dt>{agent.home}</dt>
          <dd>{runtime.home}</dd>
        </>
      )}
      {!runtime.connected && (
        <>
          <dt>{agent.lastOnline}</dt>
          <dd>{runtime.lastOnlineAt ? <time dateTime={runtime.lastOnlineAt}>{f.moment(runtime.lastOnlineAt)}</time> : t.words.notYet}</dd>
          {runtime.endReason && (
            <>
              <dt>{agent.ended}</dt>
              <dd>{t.clients.ends[runtime.endReason]}</dd>
            </>
          )}
        </>
      )}
      <dt>{agent.refused}</dt>
      <dd>
        {f.number(refused)} <span className='muted'>{agent.refusedSince}</span>
        {refused > 0 && (
          <span className='muted'>
            {t.punctuation.colon + runtime.refusals.map(({ cause, count }) => `${f.number(count)} ${t.clients.refusals[cause]}`).join(t.punctuation.comma)}
          </span>
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
