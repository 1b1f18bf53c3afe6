import { useData, useRun } from '../../api/use.ts';
import type { NodesQuery } from '../../generated/graphql.ts';
import { graphql } from '../../generated/index.ts';
import { useLanguage } from '../../language/language.tsx';
import { Banner } from '../../parts/banner.tsx';
import { Failure } from '../../parts/failure.tsx';
import { State } from '../../parts/state.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useReport } from '../../parts/toast.tsx';
import { useConfirm } from '../../parts/confirm.tsx';
import { useViewer } from '../../shell/viewer.tsx';

const nodesQuery = graphql(`
  query Nodes { nodes { name address version lastReportAt stopped alive draining agents connections load unreachableFrom { node since problem } } }
`);
const drain = graphql(`
  mutation DrainNode($name: String!) { drainNode(name: $name) { name } }
`);
const undrain = graphql(`
  mutation UndrainNode($name: String!) { undrainNode(name: $name) { name } }
`);

type Row = NonNullable<NodesQuery['nodes']>[number];
const everyMs = 5000;

/** The servers of the installation, if there are several. */
export function Nodes() {
  const { t, f } = useLanguage();
  const { readOnly } = useViewer();
  const { data, error, refetch } = useData(nodesQuery, {}, { everyMs });
  const run = useRun();
  const ask = useConfirm();
  const report = useReport();
  const texts = t.server.nodes;
  const rows = data?.nodes ?? [];
  if (rows.length < 2) return <Failure error={error} onRetry={refetch} />;
  async function change({ name, draining, agents }: Row): Promise<void> {
    if (draining) report((await run(undrain, { name })).error, texts.undrained(name));
    else if (await ask({ title: texts.drainTitle(name), body: <p>{texts.drainText(agents)}</p>, action: texts.drain })) {
      report((await run(drain, { name })).error, texts.drained(name));
    }
    refetch();
  }
  const unreachable = rows.flatMap(({ name, unreachableFrom }) => {
    const [first] = unreachableFrom.toSorted((one, other) => one.since < other.since ? -1 : 1);
    return first ? [{ ...first, name, from: unreachableFrom.map(({ node }) => node).join(t.punctuation.comma) }] : [];
  });
  const columns: ReadonlyArray<Column<Row>> = [
    { key: 'name', head: texts.columns.name, cell: ({ name }) => name },
    {
      key: 'state',
      head: texts.columns.state,
      isState: true,
      cell: ({ alive, stopped, lastReportAt, draining, unreachableFrom }) =>
        !alive
          ? <State tone={stopped ? 'off' : 'danger'}>{stopped ? texts.stopped : texts.silent(f.moment(lastReportAt))}</State>
          : unreachableFrom.length > 0
          ? <State tone='danger'>{texts.unreachable}</State>
          : draining
          ? <State tone='warn'>{texts.draining}</State>
          : <State tone='ok'>{texts.serving}</State>,
    },
    { key: 'address', head: texts.columns.address, leaves: 3, cell: ({ address }) => <span className='mono'>{address ?? t.words.none}</span> },
    { key: 'version', head: texts.columns.version, leaves: 2, cell: ({ version }) => version },
    { key: 'agents', head: texts.columns.agents, isNumber: true, leaves: 1, cell: ({ alive, agents }) => alive && f.number(agents) },
    { key: 'connections', head: texts.columns.connections, isNumber: true, leaves: 2, cell: ({ alive, connections }) => alive && f.number(connections) },
    { key: 'load', head: texts.columns.load, isNumber: true, leaves: 3, cell: ({ alive, load }) => alive && `${f.number(Math.round(load * 100))} %` },
  ];
  return (
    <section className='card' aria-labelledby='h-nodes'>
      <div className='card-head'>
        <h2 id='h-nodes'>{texts.title}</h2>
      </div>
      <Failure error={error} onRetry={refetch} />
      {unreachable.map(({ name, from, since, problem }) => (
        <Banner key={name} tone='danger' title={texts.unreachableFrom(name, from, f.moment(since))}>{problem}</Banner>
      ))}
      <Table
        caption={texts.title}
        rows={rows}
        columns={columns}
        idOf={({ name }) => name}
        nameOf={({ name }) => name}
        {...(!readOnly && {
          menu: (row: Row) => {
            const action = row.draining ? texts.undrain : texts.drain;
            return row.alive && (
              <button
                type='button'
                className='btn btn-s'
                aria-label={action + t.punctuation.colon + row.name}
                onClick={() => void change(row)}
              >
                {action}
              </button>
            );
          },
        })}
      />
      <p className='card-body muted'>{texts.about}</p>
    </section>
  );
}
