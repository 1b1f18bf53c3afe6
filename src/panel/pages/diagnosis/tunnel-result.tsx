import { Link } from 'wouter';
import { useData } from '../../api/use.ts';
import { graphql } from '../../generated/index.ts';
import { useLanguage } from '../../language/language.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Gates } from './gates.tsx';

const diagnoseTunnel = graphql(`
  query DiagnoseTunnel($id: ID!, $visitorAddress: String, $probe: Boolean!) {
    diagnoseTunnel(id: $id, visitorAddress: $visitorAddress, probe: $probe) {
      tunnel { id client { id remark } }
      gates { ...DiagnosisGates }
      probes { ...TargetProbes }
    }
  }
`);

/** What happens to a visitor of a tunnel. */
export function TunnelResult({ id, visitorAddress, probe }: { readonly id: string; readonly visitorAddress: string | null; readonly probe: boolean }) {
  const { t } = useLanguage();
  const { data, error, refetch } = useData(diagnoseTunnel, { id, visitorAddress, probe });
  if (error !== undefined) return <Failure error={error} onRetry={refetch} />;
  if (data === undefined) return <Loading />;
  if (!data.diagnoseTunnel) return <p>{t.shell.recordMissing}</p>;
  const { gates, probes, tunnel } = data.diagnoseTunnel;
  const { client } = tunnel;
  const more = (
    <div className='actions'>
      <Link className='btn btn-s' href={`/tunnels/${tunnel.id}`}>{t.diagnosis.openTunnel}</Link>
      <Link className='btn btn-s' href={`/clients/${client.id}`}>{client.remark || t.clients.nameless(client.id)}</Link>
    </div>
  );
  return <Gates gates={gates} probes={probes} more={more} onAgain={refetch} />;
}
