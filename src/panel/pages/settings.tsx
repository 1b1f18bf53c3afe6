import { useAsk, useData, useRun } from '../api/use.ts';
import { graphql } from '../generated/index.ts';
import type { SettingsQuery } from '../generated/graphql.ts';
import { useLanguage } from '../language/language.tsx';
import { Failure } from '../parts/failure.tsx';
import { LinesField, TextField } from '../parts/field.tsx';
import { linesOf, textOrNull } from '../parts/form-values.ts';
import { FormFrame, useForm } from '../parts/form.tsx';
import { Loading } from '../parts/loading.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { useToast } from '../parts/toast.tsx';
import { useViewer } from '../shell/viewer.tsx';
import { Nodes } from './settings/nodes.tsx';

const settingsQuery = graphql(`
  query Settings { globalSettings { version serverUrl blocklist } }
`);
const check = graphql(`
  mutation CheckSettings($input: UpdateGlobalSettingsInput!) { updateGlobalSettings(dryRun: true, input: $input) { version } }
`);
const update = graphql(`
  mutation UpdateSettings($version: String, $input: UpdateGlobalSettingsInput!) {
    updateGlobalSettings(expectedVersion: $version, input: $input) { version serverUrl blocklist }
  }
`);

type Values = NonNullable<SettingsQuery['globalSettings']>;

/** `/settings`: the global settings, for administrators. */
export default function SettingsPage() {
  const { t, f } = useLanguage();
  const { server } = useViewer();
  const { data, error, refetch } = useData(settingsQuery, {});
  const texts = t.server.settings;
  return (
    <>
      <PageHead title={texts.title}>{texts.subtitle}</PageHead>
      <Failure error={error} onRetry={refetch} />
      {data === undefined && error === undefined && <Loading />}
      {data?.globalSettings && <SettingsForm settings={data.globalSettings} />}
      <Nodes />
      <section className='card' aria-labelledby='h-facts'>
        <div className='card-head'>
          <h2 id='h-facts'>{texts.facts}</h2>
        </div>
        <dl className='card-body kv'>
          <dt>{texts.version}</dt>
          <dd>{server.version}</dd>
          <dt>{texts.startedAt}</dt>
          <dd>{f.moment(server.startedAt)}</dd>
          <dt>{texts.retention}</dt>
          <dd>{texts.kept(server.retention)}</dd>
          <dt>{texts.publicAddress}</dt>
          <dd className='mono'>{server.publicAddress ?? t.words.unknown}</dd>
          <dt>{texts.bridge}</dt>
          <dd>{server.bridgeTlsPort + t.punctuation.brackets('TLS')}</dd>
          <dt>{texts.fingerprint}</dt>
          <dd className='mono'>{server.bridgeTlsFingerprint}</dd>
          <dt>{texts.hosts}</dt>
          <dd>
            {[
              server.hostHttpPort && server.hostHttpPort + t.punctuation.brackets('HTTP'),
              server.hostHttpsPort && server.hostHttpsPort + t.punctuation.brackets('HTTPS'),
            ]
              .filter(Boolean).join(t.punctuation.comma)}
          </dd>
        </dl>
      </section>
    </>
  );
}

function SettingsForm({ settings }: { readonly settings: Values }) {
  const { t } = useLanguage();
  const { readOnly, refetch } = useViewer();
  const run = useRun();
  const ask = useAsk();
  const toast = useToast();
  const { labels, hints, title } = t.server.settings;
  const form = useForm({
    initial: valuesOf(settings),
    version: settings.version,
    check: async (values) => (await run(check, { input: inputOf(values) })).error,
    save: async (values, version) => {
      const { data, error } = await run(update, { version: version ?? null, input: inputOf(values) });
      return { data: data?.updateGlobalSettings, version: data?.updateGlobalSettings.version, error };
    },
    onSaved: () => {
      toast(t.form.saved);
      refetch();
    },
    reread: async () => {
      const { data } = await ask(settingsQuery, {});
      const now = data?.globalSettings;
      return now ? { version: now.version, values: valuesOf(now) } : undefined;
    },
  });
  if (readOnly) {
    return (
      <dl className='card card-body kv'>
        <dt>{labels.serverUrl}</dt>
        <dd>{settings.serverUrl ?? t.words.none}</dd>
        <dt>{labels.blocklist}</dt>
        <dd className='mono'>{settings.blocklist.join(', ') || t.words.none}</dd>
      </dl>
    );
  }
  return (
    <FormFrame form={form} labels={labels} action={t.actions.save}>
      <section className='card card-body' aria-label={title}>
        <TextField form={form} name='serverUrl' label={labels.serverUrl} hint={hints.serverUrl} isMono isOptional />
        <LinesField form={form} name='blocklist' label={labels.blocklist} hint={hints.blocklist} rows={6} isOptional />
      </section>
    </FormFrame>
  );
}

function valuesOf({ serverUrl, blocklist }: Values) {
  return { serverUrl: serverUrl ?? '', blocklist: blocklist.join('\n') };
}

function inputOf({ serverUrl, blocklist }: ReturnType<typeof valuesOf>) {
  return { serverUrl: textOrNull(serverUrl), blocklist: linesOf(blocklist) };
}
