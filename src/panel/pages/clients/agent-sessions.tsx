import { useData } from '../../api/use.ts';
import { graphql } from '../../generated/index.ts';
import type { AgentSessionsQuery } from '../../generated/graphql.ts';
import { useLanguage } from '../../language/language.tsx';
import { Empty } from '../../parts/banner.tsx';
import { Failure } from '../../parts/failure.tsx';
import { State } from '../../parts/state.tsx';
import { type Column, Table } from '../../parts/table.tsx';

const sessions = graphql(`
  query AgentSessions($clientId: ID!) {
    agentSessions(clientId: $clientId) { connectedAt endedAt endReason endText address version secure }
  }
`);

type Row = AgentSessionsQuery['agentSessions'][number];

/** They are read again after this many ms. */
const movingMs = 5000;

/** When a client's agent connected and disconnected, and why. */
export function AgentSessions({ clientId }: { readonly clientId: string }) {
  const { t, f } = useLanguage();
  const { data, error, refetch } = useData(sessions, { clientId }, { everyMs: movingMs });
  const { sessions: texts } = t.clients;
  const columns: ReadonlyArray<Column<Row>> = [
    { key: 'from', head: texts.from, cell: ({ connectedAt }) => <time dateTime={connectedAt}>{f.moment(connectedAt)}</time> },
    {
      key: 'state',
      head: texts.end,
      isState: true,
      cell: ({ endedAt, endReason, endText }) =>
        endedAt && endReason
          ? (
            <>
              <State tone={endReason === 'AGENT_STOPPED' || endReason === 'SERVER_STOPPED' ? 'away' : 'warn'}>{t.clients.ends[endReason]}</State>
              <span className='sub' lang='en'>{endText}</span>
            </>
          )
          : <State tone='ok'>{t.states.online}</State>,
    },
    {
      key: 'duration',
      head: texts.duration,
      cell: ({ connectedAt, endedAt }) => f.duration((endedAt ? Date.parse(endedAt) : Date.now()) - Date.parse(connectedAt)),
    },
    { key: 'address', head: t.clients.agent.address, leaves: 2, cell: ({ address }) => <span className='mono'>{address}</span> },
    { key: 'version', head: t.clients.agent.version, leaves: 3, cell: ({ version, secure }) => version + t.punctuation.comma + (secure ? 'TLS' : texts.plain) },
  ];
  if (data?.agentSessions.length === 0) return <Empty icon='session' title={texts.none}>{texts.noneText}</Empty>;
  return (
    <>
      <Failure error={error} onRetry={refetch} />
      <Table
        caption={texts.caption}
        rows={data?.agentSessions}
        columns={columns}
        idOf={({ connectedAt }) => connectedAt}
        nameOf={({ connectedAt }) => f.moment(connectedAt)}
      />
      <p className='card-foot muted small'>{texts.kept}</p>
    </>
  );
}
