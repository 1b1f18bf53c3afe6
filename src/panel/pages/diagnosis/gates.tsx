import type { ReactNode } from 'react';
import { type FragmentType, graphql, unmask } from '../../generated/index.ts';
import type { DiagnosisGatesFragment } from '../../generated/graphql.ts';
import { useLanguage } from '../../language/language.tsx';
import { Banner } from '../../parts/banner.tsx';
import { Icon } from '../../parts/icon.tsx';

/** A check of a diagnosis. */
export const diagnosisGates = graphql(`
  fragment DiagnosisGates on DiagnosisGate {
    name outcome
    findings { code text params { name value } }
    fix { code text params { name value } }
    refusals { cause count }
    visitorPage { status title }
  }
`);
/** A dialed target. */
export const targetProbes = graphql(`
  fragment TargetProbes on TargetProbe { target reached milliseconds error }
`);

type Gate = DiagnosisGatesFragment;

/** The verdict, and all checks in order. The one that stops visitors is open, with how to fix it. @param more below it */
export function Gates({ gates: masked, probes: maskedProbes, more, onAgain }: {
  readonly gates: ReadonlyArray<FragmentType<typeof diagnosisGates>>;
  readonly probes: ReadonlyArray<FragmentType<typeof targetProbes>>;
  readonly more: ReactNode;
  readonly onAgain: () => void;
}) {
  const { t, f } = useLanguage();
  const texts = t.diagnosis;
  const gates = masked.map((gate) => unmask(diagnosisGates, gate));
  const probes = maskedProbes.map((probe) => unmask(targetProbes, probe));
  const stop = gates.findIndex(({ outcome }) => outcome === 'STOPPED');
  const stopping = gates[stop];
  return (
    <>
      <div aria-live='polite'>
        <Banner
          tone={stopping === undefined ? 'ok' : 'danger'}
          role='note'
          title={stopping === undefined ? texts.open : texts.stopped(texts.gates[stopping.name])}
          action={
            <button type='button' className='btn btn-s' onClick={onAgain}>
              {texts.again}
            </button>
          }
        >
          {stopping?.findings.map((finding) => texts.sentence(texts.finding(finding, f))).join(t.punctuation.gap)}
        </Banner>
      </div>
      <section className='card card-body' aria-labelledby='h-gates'>
        <h2 className='visually-hidden' id='h-gates'>{texts.title}</h2>
        <ol className='gates'>
          {gates.map((gate, at) => <GateItem key={gate.name} gate={gate} isAfter={stop >= 0 && at > stop} more={at === stop ? more : undefined} />)}
        </ol>
      </section>
      {probes.length > 0 && (
        <section className='card' aria-labelledby='h-probes'>
          <div className='card-head'>
            <h2 id='h-probes'>{texts.probes}</h2>
          </div>
          <ul className='lines'>
            {probes.map(({ target, reached, milliseconds, error }) => (
              <li key={target}>
                <span className='mono'>{target}</span>
                <span className={reached ? 'ok-text' : 'danger-text'}>{reached ? texts.reached(f.number(milliseconds)) : error ?? texts.notReached}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function GateItem(
  { gate: { name, outcome, findings, fix, refusals, visitorPage }, isAfter, more }: {
    readonly gate: Gate;
    readonly isAfter: boolean;
    readonly more: ReactNode;
  },
) {
  const { t, f } = useLanguage();
  const texts = t.diagnosis;
  const isStopped = outcome === 'STOPPED';
  const className = isStopped && !isAfter ? 'gate gate-stopped' : isAfter ? 'gate gate-after' : 'gate';
  return (
    <li className={className}>
      <span className='gate-mark'>
        <Icon name={isStopped ? 'stop' : outcome === 'PASSED' ? 'check' : 'info'} />
      </span>
      <div className='gate-body'>
        <div className='gate-title'>
          <h3>{texts.gates[name]}</h3>
          <span className='small muted'>{texts.outcomes[outcome]}</span>
        </div>
        {findings.map((finding) => <p key={finding.code} className='gate-found'>{texts.sentence(texts.finding(finding, f))}</p>)}
        {visitorPage && <p className='gate-found'>{texts.visitorSees(visitorPage.status, visitorPage.title)}</p>}
        {refusals.length > 0 && (
          <p className='gate-found'>
            {texts.refused + t.punctuation.colon}
            {refusals.map(({ cause, count }) => `${t.clients.refusals[cause]} ${f.number(count)}`).join(t.punctuation.comma)}
          </p>
        )}
        {fix && !isStopped && <p className='gate-found'>{texts.sentence(texts.fixing(fix, f))}</p>}
        {isStopped && fix && (
          <div className='gate-stop'>
            <p>
              <strong>{texts.fix + t.punctuation.colon}</strong>
              {texts.sentence(texts.fixing(fix, f))}
            </p>
            {more}
          </div>
        )}
      </div>
    </li>
  );
}
