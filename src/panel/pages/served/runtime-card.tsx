import type { ReactNode } from 'react';
import type { RefusalCause } from '../../generated/graphql.ts';
import { useLanguage } from '../../language/language.tsx';

/** What a tunnel or host does now. */
interface Runtime {
  readonly connections: number;
  readonly rate: number;
  readonly inletRate: number;
  readonly exportRate: number;
  readonly inletBytes: number;
  readonly exportBytes: number;
  readonly refusals: ReadonlyArray<{ readonly cause: RefusalCause; readonly count: number }>;
  readonly health?: { readonly targets: ReadonlyArray<{ readonly target: string; readonly healthy: boolean; readonly lastError?: string | null }> } | null;
}

/** The state and the numbers of a tunnel or host. @param children the terms and values at the beginning: where visitors enter */
export function RuntimeCard({ title, state, runtime, width, children }: {
  readonly title: string;
  readonly state: ReactNode;
  readonly runtime: Runtime;
  /** The class of its width. */
  readonly width: string;
  readonly children: ReactNode;
}) {
  const { t, f } = useLanguage();
  return (
    <section className={`card ${width}`} aria-labelledby='h-state'>
      <div className='card-head'>
        <h2 id='h-state'>{title}</h2>
        {state}
      </div>
      <dl className='card-body kv' data-moves>
        {children}
        <dt>{t.traffic.connections}</dt>
        <dd>{f.number(runtime.connections)}</dd>
        <dt>{t.traffic.rateNow}</dt>
        <dd>
          {f.rate(runtime.rate)}
          <span className='sub'>{t.traffic.directions(f.rate(runtime.exportRate), f.rate(runtime.inletRate))}</span>
        </dd>
        <dt>{t.traffic.toVisitors}</dt>
        <dd>{f.bytes(runtime.exportBytes)}</dd>
        <dt>{t.traffic.fromVisitors}</dt>
        <dd>{f.bytes(runtime.inletBytes)}</dd>
        {runtime.refusals.length > 0 && (
          <>
            <dt>{t.clients.agent.refused}</dt>
            <dd>{runtime.refusals.map(({ cause, count }) => `${f.number(count)} ${t.clients.refusals[cause]}`).join(t.punctuation.comma)}</dd>
          </>
        )}
        {runtime.health?.targets.map(({ target, healthy, lastError }) => (
          <div key={target} className='contents'>
            <dt className='mono'>{target}</dt>
            <dd>{healthy ? t.states.serves : lastError ?? t.states.broken}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
