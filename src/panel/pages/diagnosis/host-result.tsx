import { Link } from 'wouter';
import { useData } from '../../api/use.ts';
import { graphql } from '../../generated/index.ts';
import type { FindingCode } from '../../generated/graphql.ts';
import { hostName } from '../hosts/host-name.ts';
import { useLanguage } from '../../language/language.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Gates } from './gates.tsx';
import { useLookAgain } from './look-again.ts';
import type { VisitorRequest } from './request.ts';

const diagnoseHost = graphql(`
  query DiagnoseHost($host: String!, $path: String!, $scheme: RequestScheme!, $visitorAddress: String, $probe: Boolean!, $lookUp: Boolean!) {
    diagnoseHost(host: $host, path: $path, scheme: $scheme, visitorAddress: $visitorAddress, probe: $probe, lookUp: $lookUp) {
      target near { id host location publicUrls }
      rule { id host location client { id remark } }
      gates { name findings { code } ...DiagnosisGates }
      probes { ...TargetProbes }
    }
  }
`);

/** The findings that there are hosts with the name, but none that takes the request. */
const stoppingHosts: ReadonlySet<FindingCode> = new Set(['RULES_STOPPED', 'SCHEME_DIFFERS', 'PATH_DIFFERS']);

/** What happens to a request. If no host has the name, those with a similar one are shown: it may be mistyped. */
export function HostResult({ visitorAddress, probe, lookUp, ...request }: VisitorRequest & {
  readonly visitorAddress: string | null;
  readonly probe: boolean;
  readonly lookUp: boolean;
}) {
  const { t } = useLanguage();
  const { data, error, refetch } = useData(diagnoseHost, { ...request, visitorAddress, probe, lookUp });
  useLookAgain('host', refetch, probe || lookUp);
  if (error !== undefined) return <Failure error={error} onRetry={refetch} />;
  if (data === undefined) return <Loading />;
  const { gates, probes, rule, target, near } = data.diagnoseHost;
  const texts = t.diagnosis;
  const client = rule?.client;
  const isKnown = gates.some(({ findings }) => findings.some(({ code }) => stoppingHosts.has(code)));
  const more = (rule || near.length > 0 || isKnown) && (
    <div className='actions'>
      {rule && <Link className='btn btn-s' href={`/hosts/${rule.id}`}>{texts.openHost}</Link>}
      {client && <Link className='btn btn-s' href={`/clients/${client.id}`}>{client.remark || t.clients.nameless(client.id)}</Link>}
      {isKnown && <Link className='btn btn-s' href={`/hosts?q=${encodeURIComponent(request.host)}`}>{texts.namesakes}</Link>}
      {near.length > 0 && (
        <div className='stack-s'>
          <p>{texts.near + t.punctuation.colon.trimEnd()}</p>
          <div className='actions'>
            {near.map(({ id, host, location, publicUrls: [url] }) => (
              <Link key={id} className='btn btn-s' href={`/diagnosis?url=${encodeURIComponent(url ?? `http://${host}${location}`)}`}>
                {hostName({ host, location })}
              </Link>
            ))}
          </div>
        </div>
      )}
    </div>
  );
  return (
    <>
      {rule && (
        <dl className='card card-body kv'>
          <dt>{texts.rule}</dt>
          <dd>
            <Link href={`/hosts/${rule.id}`} className='mono'>{hostName(rule)}</Link>
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
