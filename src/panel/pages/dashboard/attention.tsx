import { useState } from 'react';
import { Link } from 'wouter';
import { useData } from '../../api/use.ts';
import { graphql } from '../../generated/index.ts';
import type { ProblemsQuery } from '../../generated/graphql.ts';
import type { Language } from '../../language/language.tsx';
import { useLanguage } from '../../language/language.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Badge, State } from '../../parts/state.tsx';
import { useViewer } from '../../shell/viewer.tsx';

const problemsQuery = graphql(`
  query Problems($soon: DateTime!, $isAdministrator: Boolean!) {
    away: clients(filter: { connected: false, enabled: true }, sort: { field: LAST_ONLINE_AT, direction: DESC }, limit: 5) {
      total rows { id remark runtime { lastOnlineAt } tunnels(limit: 1) { total } hosts(limit: 1) { total } }
    }
    broken: tunnels(filter: { enabled: true, connected: true, running: false }, limit: 5) {
      total rows { id remark runtime { running error } client { id enabled } }
    }
    certificates: hosts(filter: { enabled: true, certificateDaysRemainingBelow: 15 }, limit: 5) {
      total rows { id host location certificate { status problem daysRemaining } }
    }
    full: clients(filter: { usageAbovePercent: 80, enabled: true }, limit: 5) { total rows { id remark flowLimit runtime { inletBytes exportBytes } } }
    expiring: clients(filter: { expiresBefore: $soon, enabled: true }, limit: 5) { total rows { id remark effectiveExpiresAt } }
    lockouts @include(if: $isAdministrator) { kind source }
  }
`);

/** Something that is wrong, why, and how to fix it. */
interface Problem {
  readonly key: string;
  readonly isBroken: boolean;
  readonly what: string;
  readonly why: string;
  /** As address and text. */
  readonly fixes: ReadonlyArray<readonly [string, string]>;
}

const movingMs = 5000;
const soonMs = 7 * 86_400_000;
const mebibyte = 1024 * 1024;

/** What is wrong, what is broken first. */
export function Attention() {
  const language = useLanguage();
  const { t } = language;
  const { isAdministrator } = useViewer();
  const [soon] = useState(() => new Date(Date.now() + soonMs).toISOString());
  const { data } = useData(problemsQuery, { soon, isAdministrator }, { everyMs: movingMs });
  const problems = data === undefined ? undefined : problemsOf(data, language);
  const broken = problems?.filter(({ isBroken }) => isBroken).length ?? 0;
  const rest = (problems?.length ?? 0) - broken;
  return (
    <section className='card' aria-labelledby='h-wrong'>
      <div className='card-head'>
        <h2 id='h-wrong'>{t.dashboard.attention}</h2>
        {broken > 0 && <Badge tone='danger'>{t.dashboard.broken(broken)}</Badge>}
        {rest > 0 && <Badge tone='warn'>{t.dashboard.soon(rest)}</Badge>}
      </div>
      <div aria-live='polite' data-moves>
        {problems?.length === 0 && (
          <p className='card-body'>
            <State tone='ok'>{t.dashboard.allClear}</State>
          </p>
        )}
        {problems === undefined && (
          <p className='card-body'>
            <span className='skeleton w-50' />
          </p>
        )}
        {problems && problems.length > 0 && (
          <ul className='issues'>
            {problems.map(({ key, isBroken, what, why, fixes }) => (
              <li key={key}>
                <Icon name={isBroken ? 'stop' : 'warn'} className={isBroken ? 'danger-text' : 'warn-text'} />
                <div>
                  <p className='what'>
                    <span className='visually-hidden'>{isBroken ? t.dashboard.kinds.broken : t.dashboard.kinds.soon}</span>
                    {what}
                  </p>
                  <p className='why'>{why}</p>
                </div>
                <div className='mend'>
                  {fixes.map(([href, text]) => <Link key={href} className='btn btn-s' href={href} aria-label={`${text}: ${what}`}>{text}</Link>)}
                </div>
              </li>
            ))}
          </ul>
        )}
      </div>
    </section>
  );
}

function problemsOf({ away, broken, certificates, full, expiring, lockouts }: ProblemsQuery, { t, f }: Language): readonly Problem[] {
  const { problems: texts, fixes } = t.dashboard;
  const clientName = ({ id, remark }: { readonly id: string; readonly remark: string }): string => remark || t.clients.nameless(id);
  const awayNow = away.rows.filter(({ runtime, tunnels, hosts }) => runtime.lastOnlineAt && tunnels.total + hosts.total > 0);
  return [
    ...awayNow.map((client): Problem => ({
      key: `away-${client.id}`,
      isBroken: true,
      what: texts.away(clientName(client)),
      why: texts.awayText(
        texts.tunnels(client.tunnels.total),
        texts.hosts(client.hosts.total),
        t.words.since(`${f.short(client.runtime.lastOnlineAt ?? '')} (${f.duration(Date.now() - Date.parse(client.runtime.lastOnlineAt ?? ''))})`),
      ),
      fixes: [[`/clients/${client.id}`, fixes.command]],
    })),
    ...broken.rows.filter(({ client }) => client.enabled).map((tunnel): Problem => ({
      key: `tunnel-${tunnel.id}`,
      isBroken: true,
      what: texts.port(tunnel.remark || t.tunnels.nameless(tunnel.id)),
      why: tunnel.runtime.error ? texts.portText(tunnel.runtime.error) : texts.portUnknown,
      fixes: [[`/diagnosis?tunnel=${tunnel.id}`, fixes.why], [`/tunnels/${tunnel.id}`, fixes.edit]],
    })),
    ...certificates.rows.map(({ id, host, location, certificate }): Problem => ({
      key: `certificate-${id}`,
      isBroken: certificate.status !== 'EXPIRING' && certificate.status !== 'REFUSED',
      what: texts.certificate(host + location),
      why: [
        t.hosts.certificate.states[certificate.status],
        typeof certificate.daysRemaining === 'number' ? t.hosts.certificate.daysLeft(certificate.daysRemaining) : '',
        certificate.problem ?? '',
      ].filter((part) => part !== '').join('; '),
      fixes: [[`/hosts/${id}`, fixes.certificate]],
    })),
    ...full.rows.map((client): Problem => ({
      key: `full-${client.id}`,
      isBroken: false,
      what: texts.usage(clientName(client)),
      why: client.flowLimit && client.runtime.inletBytes + client.runtime.exportBytes > 0.8 * client.flowLimit * mebibyte
        ? texts.usageText(f.bytes(client.runtime.inletBytes + client.runtime.exportBytes), f.bytes(client.flowLimit * mebibyte))
        : texts.usageTunnels,
      fixes: [[`/clients/${client.id}/edit`, fixes.limit]],
    })),
    ...expiring.rows.map((client): Problem => ({
      key: `expires-${client.id}`,
      isBroken: false,
      what: texts.expires(clientName(client)),
      why: texts.expiresText(f.short(client.effectiveExpiresAt ?? '')),
      fixes: [[`/clients/${client.id}/edit`, fixes.extend]],
    })),
    ...(lockouts && lockouts.length > 0
      ? [
        {
          key: 'lockouts',
          isBroken: false,
          what: texts.lockouts(lockouts.length),
          why: texts.lockoutsText(lockouts.slice(0, 3).map(({ source }) => source).join(', ')),
          fixes: [['/lockouts', fixes.lockouts]],
        } satisfies Problem,
      ]
      : []),
    ...([
      ['away', away.total > away.rows.length ? away.total - away.rows.length : 0, '/clients?state=away'],
      ['broken', broken.total - broken.rows.length, '/tunnels?state=broken'],
      ['certificates', certificates.total - certificates.rows.length, '/hosts?state=certificate'],
      ['full', full.total - full.rows.length, '/clients?full=yes'],
      ['expiring', expiring.total - expiring.rows.length, '/clients?expiring=yes'],
    ] as const).filter(([, more]) => more > 0).map(([key, more, href]): Problem => ({
      key,
      isBroken: key === 'broken',
      what: t.dashboard.moreLikeThis(more),
      why: '',
      fixes: [[href, fixes.all]],
    })),
  ];
}
