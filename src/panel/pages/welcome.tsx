import { type ReactNode, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { useEvents } from '../api/live.ts';
import { useData, useRun } from '../api/use.ts';
import { graphql } from '../generated/index.ts';
import { useLanguage } from '../language/language.tsx';
import { keep } from '../language/kept.ts';
import { TrafficChart } from '../parts/chart/traffic-chart.tsx';
import { TextField } from '../parts/field.tsx';
import { FormFrame, useForm } from '../parts/form.tsx';
import { Icon } from '../parts/icon.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { RunAgent } from './clients/run-agent.tsx';
import { FirstEntry } from './welcome/first-entry.tsx';
import { Waiting } from './welcome/waiting.tsx';

const createClient = graphql(`
  mutation CreateFirstClient($remark: String!) { createClient(input: { remark: $remark }) { id } }
`);
const stepsQuery = graphql(`
  query FirstSteps($id: ID!) {
    client(id: $id) {
      id remark
      runtime { connected address inletBytes exportBytes }
      tunnels(limit: 1) { rows { id port publicAddress } }
      hosts(limit: 1) { rows { id host publicUrls } }
      ...RunAgent
    }
  }
`);
const changes = graphql(`
  subscription FirstAgent($id: ID!) { clientChanged(id: $id) { id client { id runtime { connected address } } } }
`);

const everyMs = 2000;

/** `/welcome`: from an empty server to the first bytes. The client is in the address, so that the steps can be continued later. */
export default function WelcomePage() {
  const { t, f } = useLanguage();
  const [, navigate] = useLocation();
  const [parameters, setParameters] = useSearchParams();
  const id = parameters.get('client') ?? '';
  const { data, refetch } = useData(stepsQuery, { id }, { pause: id === '', everyMs });
  useEvents(changes, { id }, refetch, { pause: id === '' });
  const texts = t.dashboard.welcome;
  const client = data?.client ?? undefined;
  const tunnel = client?.tunnels.rows[0];
  const host = client?.hosts.rows[0];
  const bytes = (client?.runtime.inletBytes ?? 0) + (client?.runtime.exportBytes ?? 0);
  const entry = host ? host.publicUrls[0] ?? host.host : tunnel && (tunnel.publicAddress ?? `${location.hostname}:${tunnel.port ?? ''}`);
  const step = client === undefined ? 1 : !client.runtime.connected && bytes === 0 ? 2 : entry === undefined ? 3 : 4;
  const finish = (): void => {
    keep('welcome', 'done');
    navigate('/');
  };
  return (
    <>
      <PageHead
        title={texts.title}
        actions={
          <button type='button' className='btn' onClick={finish}>
            {bytes > 0 && entry !== undefined ? texts.finish : texts.later}
          </button>
        }
      >
        {texts.subtitle}
      </PageHead>
      <ol className='steps'>
        <Step number={1} current={step} title={texts.steps.client} done={client && texts.clientDone(client.remark)}>
          <FirstClient onMade={(made) => setParameters({ client: made })} />
        </Step>
        <Step number={2} current={step} title={texts.steps.agent} done={step > 2 && client ? texts.agentDone(client.runtime.address ?? '') : undefined}>
          {client && (
            <>
              <p>{texts.agentText}</p>
              <RunAgent of={client} />
              <Waiting text={texts.agentWaiting} long={texts.agentLong} />
            </>
          )}
        </Step>
        <Step number={3} current={step} title={texts.steps.entry} done={step > 3 && entry !== undefined ? texts.entryDone(entry) : undefined}>
          {client && <FirstEntry clientId={client.id} onMade={refetch} />}
        </Step>
        <Step number={4} current={step} title={texts.steps.bytes} done={undefined}>
          {client && entry !== undefined && (
            <>
              <p>{texts.bytesText(entry)}</p>
              <div role='status'>{bytes > 0 ? <strong>{texts.bytesDone(f.bytes(bytes))}</strong> : <Waiting text={texts.bytesWaiting} />}</div>
              <TrafficChart resource='CLIENT' id={client.id} />
              <div className='actions'>
                <button type='button' className='btn btn-primary' onClick={finish}>{texts.finish}</button>
                <Link className='btn' href={`/clients/${client.id}`}>{client.remark}</Link>
              </div>
            </>
          )}
        </Step>
      </ol>
    </>
  );
}

function Step({ number, current, title, done, children }: {
  readonly number: number;
  readonly current: number;
  readonly title: string;
  /** What was done; undefined = it is not done. */
  readonly done: string | undefined;
  readonly children: ReactNode;
}) {
  const isDone = done !== undefined && number < current;
  const state = isDone ? 'step-done' : number === current ? 'step-now' : '';
  return (
    <li className={`step ${state}`} aria-current={number === current ? 'step' : undefined}>
      <span className='step-no'>{isDone ? <Icon name='check' /> : number}</span>
      <div className='card'>
        <h2>{title}</h2>
        {isDone ? <p className='muted'>{done}</p> : number === current && children}
      </div>
    </li>
  );
}

function FirstClient({ onMade }: { readonly onMade: (id: string) => void }) {
  const { t } = useLanguage();
  const run = useRun();
  const [isMade, setMade] = useState(false);
  const texts = t.dashboard.welcome;
  const form = useForm({
    initial: { remark: '' },
    validate: ({ remark }) => remark.trim() === '' ? { remark: t.form.required } : {},
    save: async ({ remark }) => {
      const { data, error } = await run(createClient, { remark: remark.trim() });
      return { data: data?.createClient.id, error };
    },
    onSaved: (id) => {
      setMade(true);
      onMade(id);
    },
  });
  if (isMade) return null;
  return (
    <>
      <p>{texts.clientText}</p>
      <FormFrame form={form} labels={{ remark: texts.clientName }} action={texts.clientCreate} className='stack plain-form'>
        <TextField form={form} name='remark' label={texts.clientName} placeholder={texts.clientExample} />
      </FormFrame>
    </>
  );
}
