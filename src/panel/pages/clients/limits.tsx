import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { type FragmentType, graphql, unmask } from '../../generated/index.ts';
import { useLanguage } from '../../language/language.tsx';
import { Bar } from '../../parts/state.tsx';
import { useViewer } from '../../shell/viewer.tsx';

const clientLimits = graphql(`
  fragment ClientLimits on Client {
    id rateLimit flowLimit maxConnections maxTunnels effectiveExpiresAt
    runtime { connections inletBytes exportBytes }
    tunnels(limit: 1) { total }
    hosts(limit: 1) { total }
  }
`);

/** The limits of a client, and how much of each is used. @param rate bytes per second now */
export function Limits({ of, rate }: { readonly of: FragmentType<typeof clientLimits>; readonly rate: number }) {
  const { t, f } = useLanguage();
  const { readOnly, role } = useViewer();
  const client = unmask(clientLimits, of);
  const { limits } = t.clients;
  return (
    <>
      <dl className='card-body grid-2'>
        <Limit
          title={limits.flow}
          text={limits.flowText}
          used={client.runtime.inletBytes + client.runtime.exportBytes}
          limit={client.flowLimit && client.flowLimit * 1024 * 1024}
          format={f.bytes}
          share={f.share}
        />
        <Limit
          title={limits.rate}
          text={limits.rateText}
          used={rate}
          limit={client.rateLimit && client.rateLimit * 1024}
          format={f.rate}
          share={(part, all) => f.share(part, all, '/s')}
        />
        <Limit title={limits.connections} text={limits.connectionsText} used={client.runtime.connections} limit={client.maxConnections} format={f.number} />
        <Limit title={limits.tunnels} text={limits.tunnelsText} used={client.tunnels.total + client.hosts.total} limit={client.maxTunnels} format={f.number} />
        <div className='limit'>
          <dt>{limits.expiry}</dt>
          <dd>{client.effectiveExpiresAt ? f.moment(client.effectiveExpiresAt) : t.words.never}</dd>
          {client.effectiveExpiresAt && <dd className='small muted'>{limits.expiryText}</dd>}
        </div>
      </dl>
      {!readOnly && role !== 'CLIENT' && (
        <div className='card-foot'>
          <Link href={`/clients/${client.id}/edit`}>{limits.change}</Link>
        </div>
      )}
    </>
  );
}

function Limit({ title, text, used, limit, format, share }: {
  readonly title: string;
  readonly text: string;
  readonly used: number;
  readonly limit: number | null | undefined;
  readonly format: (value: number) => string;
  /** Absent = each with `format`. */
  readonly share?: (used: number, limit: number) => string;
}): ReactNode {
  const { t } = useLanguage();
  const hasLimit = limit !== null && limit !== undefined;
  return (
    <div className='limit'>
      <dt>{title}</dt>
      <dd data-moves>{hasLimit ? share?.(used, limit) ?? t.words.of(format(used), format(limit)) : `${format(used)} · ${t.words.noLimit}`}</dd>
      {hasLimit && (
        <dd className='stack-s small muted'>
          <Bar used={used} limit={limit} />
          <span>{text}</span>
        </dd>
      )}
    </div>
  );
}
