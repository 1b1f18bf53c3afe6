import { Link } from 'wouter';
import { useData } from '../../api/use.ts';
import { graphql } from '../../generated/index.ts';
import { useLanguage } from '../../language/language.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Loading } from '../../parts/loading.tsx';
import { useLookAgain } from './look-again.ts';
import { Gates } from './gates.tsx';

const diagnoseTunnel = graphql(`
  query DiagnoseTunnel($id: ID, $port: Port, $visitorAddress: String, $probe: Boolean!) {
    diagnoseTunnel(id: $id, port: $port, visitorAddress: $visitorAddress, probe: $probe) {
      tunnel { id remark client { id remark } }
      gates { ...DiagnosisGates }
      probes { ...TargetProbes }
    }
  }
`);

/** What happens to a visitor of a tunnel. @param id null = the tunnel with the port */
export function TunnelResult({ id, port, visitorAddress, probe }: {
  readonly id: string | null;
  readonly port: number | null;
  readonly visitorAddress: string | null;
  readonly probe: boolean;
}) {
  const { t } = useLanguage();
  const { data, error, refetch } = useData(diagnoseTunnel, { id, port, visitorAddress, probe });
  useLookAgain('tunnel', refetch, probe);
  if (error !== undefined) return <Failure error={error} onRetry={refetch} />;
  if (data === undefined) return <Loading />;
  if (!data.diagnoseTunnel) return <p>{port === null ? t.shell.recordMissing : t.diagnosis.noTunnelAt(String(port))}</p>;
  const { gates, probes, tunnel } = data.diagnoseTunnel;
  const { client } = tunnel;
  const more = (
    <div className='actions'>
      <Link className='btn btn-s' href={`/tunnels/${tunnel.id}`}>{t.diagnosis.openTunnel}</Link>
      <Link className='btn btn-s' href={`/clients/${client.id}`}>{client.remark || t.clients.nameless(client.id)}</Link>
    </div>
  );
  if (port === null) return <Gates gates={gates} probes={probes} more={more} onAgain={refetch} />;
  return (
    <>
      <dl className='card card-body kv'>
        <dt>{t.diagnosis.tunnel}</dt>
        <dd>
          <Link href={`/tunnels/${tunnel.id}`}>{tunnel.remark || t.tunnels.nameless(tunnel.id)}</Link>
        </dd>
      </dl>
      <Gates gates={gates} probes={probes} more={more} onAgain={refetch} />
    </>
  );
}
