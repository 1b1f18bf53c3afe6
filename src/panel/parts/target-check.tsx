import { useState } from 'react';
import { failureOf } from '../api/failure.ts';
import { useRun } from '../api/use.ts';
import { graphql } from '../generated/index.ts';
import type { ProbeTargetsMutation } from '../generated/graphql.ts';
import { useLanguage } from '../language/language.tsx';
import { linesOf } from './form-values.ts';

const probe = graphql(`
  mutation ProbeTargets($clientId: ID!, $targets: [String!]!) { probeTargets(clientId: $clientId, targets: $targets) { target reached milliseconds error } }
`);

/** Lets the agent dial the targets of a form before they are saved. */
export function TargetCheck({ clientId, targets }: { readonly clientId: string; readonly targets: string }) {
  const { t, f } = useLanguage();
  const run = useRun();
  const [results, setResults] = useState<ProbeTargetsMutation['probeTargets']>([]);
  const [failure, setFailure] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const lines = linesOf(targets);
  async function check(): Promise<void> {
    if (isBusy) return;
    setBusy(true);
    const { data, error } = await run(probe, { clientId, targets: lines });
    setBusy(false);
    setResults(data?.probeTargets ?? []);
    setFailure(error && failureOf(error, t).text);
  }
  if (clientId === '' || lines.length === 0) return null;
  return (
    <div className='stack-s'>
      <div className='row'>
        <button type='button' className='btn btn-s' aria-disabled={isBusy || undefined} onClick={() => void check()}>{t.targets.check}</button>
      </div>
      <div role='status'>
        {failure !== undefined && <p className='danger-text'>{failure}</p>}
        {results.map(({ target, reached, milliseconds, error }) => (
          <p key={target}>
            <span className='mono'>{target}</span>
            {t.punctuation.colon}
            <span className={reached ? 'ok-text' : 'danger-text'}>
              {reached ? t.diagnosis.reached(f.number(milliseconds)) : error ?? t.diagnosis.notReached}
            </span>
          </p>
        ))}
      </div>
    </div>
  );
}
