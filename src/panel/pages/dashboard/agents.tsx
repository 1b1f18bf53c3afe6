import { Link } from 'wouter';
import { type FragmentType, graphql, unmask } from '../../generated/index.ts';
import { useLanguage } from '../../language/language.tsx';
import { Loading } from '../../parts/loading.tsx';
import { State } from '../../parts/state.tsx';
import { useViewer } from '../../shell/viewer.tsx';

const agents = graphql(`
  fragment DashboardAgents on Query {
    lost: clients(filter: { connected: false, enabled: true }, sort: { field: LAST_ONLINE_AT, direction: DESC }, limit: 5) {
      rows { id remark runtime { lastOnlineAt } }
    }
  }
`);

/** How many agents are online, and which were lost last. */
export function Agents({ of }: { readonly of: FragmentType<typeof agents> | undefined }) {
  const { t, f } = useLanguage();
  const { server } = useViewer();
  const { clients } = server.counts;
  const data = unmask(agents, of);
  const lost = data?.lost.rows.filter(({ runtime }) => runtime.lastOnlineAt);
  const texts = t.dashboard.agents;
  return (
    <section className='card' aria-labelledby='h-agents'>
      <div className='card-head'>
        <h2 id='h-agents'>{texts.title}</h2>
        <span data-moves className='small'>
          <State tone='ok'>{texts.online(f.number(clients.connected), f.number(clients.total))}</State>
        </span>
      </div>
      {lost === undefined
        ? (
          <div className='card-body'>
            <Loading />
          </div>
        )
        : lost.length === 0
        ? <p className='card-body muted'>{texts.noneLost}</p>
        : (
          <>
            <h3 className='card-body small muted'>{texts.lost}</h3>
            <ul className='lines' data-moves>
              {lost.map(({ id, remark, runtime }) => (
                <li key={id}>
                  <Link href={`/clients/${id}`}>{remark || t.clients.nameless(id)}</Link>
                  <span className='small muted nowrap'>{runtime.lastOnlineAt && t.words.ago(f.duration(Date.now() - Date.parse(runtime.lastOnlineAt)))}</span>
                </li>
              ))}
            </ul>
          </>
        )}
      {clients.neverSeen > 0 && (
        <p className='card-foot'>
          <Link href='/clients?state=away'>{texts.never(clients.neverSeen)}</Link>
        </p>
      )}
    </section>
  );
}
