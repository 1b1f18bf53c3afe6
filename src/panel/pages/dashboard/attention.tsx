import { useState } from 'react';
import { Link } from 'wouter';
import { useEvents } from '../../api/live.ts';
import { useData } from '../../api/use.ts';
import { type FragmentType, graphql, unmask } from '../../generated/index.ts';
import { useLanguage } from '../../language/language.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Badge, State } from '../../parts/state.tsx';
import { fixAddress, problemReason, problemTitle, recordAddress } from './problem-texts.ts';

const problemRow = graphql(`
  fragment ProblemRow on Problem {
    id code severity since fixes
    params { name value }
    client { id remark }
    tunnel { id remark }
    host { id host location publicUrls }
    user { id username }
  }
`);
const problemsQuery = graphql(`
  query Problems($limit: Int!) { problems(limit: $limit) { total broken rows { ...ProblemRow } } }
`);
const problemsChanged = graphql(`
  subscription ProblemsChanged($limit: Int!) { problemsChanged(limit: $limit) { total broken rows { ...ProblemRow } } }
`);

/** How many problems are shown at first, and at most. */
const first = 8;
const most = 200;

/** What is wrong, what is broken first. @param onChange called when it has changed */
export function Attention({ onChange }: { readonly onChange: () => void }) {
  const { t } = useLanguage();
  const [limit, setLimit] = useState(first);
  const { data, error, refetch } = useData(problemsQuery, { limit });
  const [live, setLive] = useState<typeof data>();
  useEvents(problemsChanged, { limit }, ({ problemsChanged: problems }) => {
    setLive({ problems });
    onChange();
  });
  const shown = (live ?? data)?.problems;
  const soon = shown === undefined ? 0 : shown.total - shown.broken;
  return (
    <section className='card' aria-labelledby='h-wrong'>
      <div className='card-head'>
        <h2 id='h-wrong'>{t.dashboard.attention}</h2>
        {shown && shown.broken > 0 && <Badge tone='danger'>{t.dashboard.broken(shown.broken)}</Badge>}
        {soon > 0 && <Badge tone='warn'>{t.dashboard.soon(soon)}</Badge>}
      </div>
      <Failure error={error} onRetry={refetch} />
      <div aria-live='polite' data-moves>
        {shown?.total === 0 && (
          <p className='card-body'>
            <State tone='ok'>{t.dashboard.allClear}</State>
          </p>
        )}
        {shown === undefined && error === undefined && (
          <p className='card-body'>
            <span className='skeleton w-50' />
          </p>
        )}
        {shown && shown.rows.length > 0 && <ul className='issues'>{shown.rows.map((row, at) => <ProblemItem key={at} of={row} />)}</ul>}
      </div>
      {shown && shown.total > shown.rows.length && limit < most && (
        <p className='card-foot'>
          <button type='button' className='link' onClick={() => setLimit(most)}>{t.problems.showAll(shown.total)}</button>
        </p>
      )}
    </section>
  );
}

function ProblemItem({ of }: { readonly of: FragmentType<typeof problemRow> }) {
  const language = useLanguage();
  const { t } = language;
  const problem = unmask(problemRow, of);
  const isBroken = problem.severity === 'BROKEN';
  const title = problemTitle(problem, language);
  const record = recordAddress(problem);
  const ways = problem.fixes.map((fix) => ({ fix, text: t.problems.fixes[fix], href: fixAddress(fix, problem) }));
  return (
    <li>
      <Icon name={isBroken ? 'stop' : 'warn'} className={isBroken ? 'danger-text' : 'warn-text'} />
      <div>
        <p className='what'>
          <span className='visually-hidden'>{isBroken ? t.dashboard.kinds.broken : t.dashboard.kinds.soon}</span>
          {record === undefined ? title : <Link href={record}>{title}</Link>}
        </p>
        <p className='why'>
          {[problemReason(problem, language), ...ways.filter(({ href }) => href === undefined).map(({ text }) => text)].join(t.punctuation.gap)}
        </p>
      </div>
      <div className='mend'>
        {ways.map(({ fix, text, href }) =>
          href === undefined ? null : <Link key={fix} className='btn btn-s' href={href} aria-label={text + t.punctuation.colon + title}>{text}</Link>
        )}
      </div>
    </li>
  );
}
