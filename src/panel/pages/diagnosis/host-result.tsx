import { Link } from 'wouter';
import { useData } from '../../api/use.ts';
import { graphql } from '../../generated/index.ts';
import { useLanguage } from '../../language/language.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Gates } from './gates.tsx';
import type { VisitorRequest } from './request.ts';

const diagnoseHost = graphql(`
  query DiagnoseHost($host: String!, $path: String!, $scheme: RequestScheme!, $visitorAddress: String, $probe: Boolean!) {
    diagnoseHost(host: $host, path: $path, scheme: $scheme, visitorAddress: $visitorAddress, probe: $probe) {
      matched target
      rule { id host location client { id remark } }
      gates { ...DiagnosisGates }
      probes { ...TargetProbes }
    }
  }
`);
const near = graphql(`
  query NearHosts($search: String!) { hosts(search: $search, limit: 5) { rows { id host location publicUrls } } }
`);

/** What happens to a request. If no host matches, hosts with a similar name are shown: the name may be mistyped. */
export function HostResult({ visitorAddress, probe, ...request }: VisitorRequest & { readonly visitorAddress: string | null; readonly probe: boolean }) {
  const { t } = useLanguage();
  const { data, error, refetch } = useData(diagnoseHost, { ...request, visitorAddress, probe });
  if (error !== undefined) return <Failure error={error} onRetry={refetch} />;
  if (data === undefined) return <Loading />;
  const { gates, probes, rule, target, matched } = data.diagnoseHost;
  const texts = t.diagnosis;
  const client = rule?.client;
  const more = (
    <div className='actions'>
      {rule && <Link className='btn btn-s' href={`/hosts/${rule.id}`}>{texts.openHost}</Link>}
      {client && <Link className='btn btn-s' href={`/clients/${client.id}`}>{client.remark || t.clients.nameless(client.id)}</Link>}
      {!matched && <NearHosts host={request.host} />}
    </div>
  );
  return (
    <>
      {rule && (
        <dl className='card card-body kv'>
          <dt>{texts.rule}</dt>
          <dd>
            <Link href={`/hosts/${rule.id}`} className='mono'>{rule.host + rule.location}</Link>
          </dd>
          {target && (
            <>
              <dt>{texts.target}</dt>
              <dd className='mono'>{target}</dd>
            </>
          )}
        </dl>
      )}
      <Gates gates={gates} probes={probes} more={more} onAgain={refetch} />
    </>
  );
}

/** Hosts whose names share a part with the given one. The parts are tried from the longest. */
function NearHosts({ host }: { readonly host: string }) {
  const { t } = useLanguage();
  const [name = ''] = host.split(':');
  const labels = name.split('.');
  const parent = labels.slice(1).join('.');
  const first = (labels[0] ?? '').slice(0, 4);
  const byParent = useData(near, { search: parent }, { pause: parent === '' });
  const byStart = useData(near, { search: first }, { pause: first === '' });
  const rows = [...byParent.data?.hosts.rows ?? [], ...byStart.data?.hosts.rows ?? []];
  const unique = [...new Map(rows.map((row) => [row.id, row])).values()].slice(0, 5);
  if (unique.length === 0) return null;
  return (
    <div className='stack-s'>
      <p>{t.diagnosis.near}:</p>
      <div className='actions'>
        {unique.map(({ id, host: other, location, publicUrls: [url] }) => (
          <Link key={id} className='btn btn-s' href={`/diagnosis?url=${encodeURIComponent(url ?? `http://${other}${location}`)}`}>{other + location}</Link>
        ))}
      </div>
    </div>
  );
}
