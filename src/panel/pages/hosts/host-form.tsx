import type { ReactNode } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { useEvents } from '../../api/live.ts';
import { useAsk, useData, useRun } from '../../api/use.ts';
import { graphql, unmask } from '../../generated/index.ts';
import type { HostFieldsFragment, HostMode, HostScheme } from '../../generated/graphql.ts';
import { useLanguage } from '../../language/language.tsx';
import { Banner } from '../../parts/banner.tsx';
import { ClientField } from '../../parts/client-field.tsx';
import { CardsField, CheckField, LinesField, SelectField, TextField } from '../../parts/field.tsx';
import { linesOf } from '../../parts/form-values.ts';
import { FormFrame } from '../../parts/form.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Menu } from '../../parts/menu.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { useRecordForm } from '../../parts/record-form.ts';
import { TargetCheck } from '../../parts/target-check.tsx';
import { useViewer } from '../../shell/viewer.tsx';
import { CertificateFields } from './certificate-fields.tsx';
import { useHostActions } from './host-actions.tsx';
import { hostName } from './host-name.ts';
import { HostOverview } from './host-overview.tsx';
import { inputOf, valuesOf } from './host-values.ts';
import { PlatformNameCheck } from './platform-name.tsx';
import { visitorUrl } from './visitor-url.ts';

const hostFields = graphql(`
  fragment HostFields on Host {
    id version host location scheme mode platformDomainId platformPrefix remark targets localProxy headers hostChange
    certificatePath privateKeyPath hasCertificate hasPrivateKey autoHttps acme noStore enabled publicUrls client { id remark }
  }
`);
const hostQuery = graphql(`
  query HostForm($id: ID!) { host(id: $id) { id ...HostFields ...HostOverview } }
`);
const domains = graphql(`
  query HostDomains { platformDomains { id wildcard } }
`);
const changed = graphql(`
  subscription HostPageChanged($id: ID!) { hostChanged(id: $id) { id host { id ...HostOverview } } }
`);
const checkNew = graphql(`
  mutation CheckNewHost($input: CreateHostInput!) { createHost(dryRun: true, input: $input) { id } }
`);
const checkChanged = graphql(`
  mutation CheckChangedHost($id: ID!, $input: UpdateHostInput!) { updateHost(id: $id, dryRun: true, input: $input) { id } }
`);
const create = graphql(`
  mutation CreateHost($input: CreateHostInput!) { createHost(input: $input) { id } }
`);
const update = graphql(`
  mutation UpdateHost($id: ID!, $version: String, $input: UpdateHostInput!) {
    updateHost(id: $id, expectedVersion: $version, input: $input) { id version ...HostFields ...HostOverview }
  }
`);

/** The numbers of the page are read again after this many ms. */
const movingMs = 5000;
const modes: readonly HostMode[] = ['CUSTOM', 'PLATFORM'];
const schemes: readonly HostScheme[] = ['ALL', 'HTTP', 'HTTPS'];

/** `/hosts/new` and `/hosts/31`. @param id of the host to change; undefined = a new one */
export default function HostForm({ id }: { readonly id?: string }) {
  const { t } = useLanguage();
  const { data, refetch } = useData(hostQuery, { id: id ?? '' }, { pause: id === undefined, everyMs: movingMs });
  useEvents(changed, { id: id ?? '' }, () => refetch(), { pause: id === undefined });
  if (id === undefined) return <Loaded host={undefined} onChange={refetch} />;
  if (data === undefined) return <Loading />;
  if (!data.host) return <PageHead title={t.hosts.title} crumbs={[['/hosts', t.hosts.title]]}>{t.shell.recordMissing}</PageHead>;
  return (
    <Loaded key={id} host={unmask(hostFields, data.host)} onChange={refetch}>
      <HostOverview of={data.host} />
    </Loaded>
  );
}

function Loaded({ host, onChange, children }: {
  readonly host: HostFieldsFragment | undefined;
  readonly onChange: () => void;
  readonly children?: ReactNode;
}) {
  const { t } = useLanguage();
  const { readOnly, role, client: ownClient, server } = useViewer();
  const [parameters] = useSearchParams();
  const run = useRun();
  const ask = useAsk();
  const { form: texts } = t.hosts;
  const isLogin = role === 'CLIENT';
  const clientId = (isLogin ? ownClient?.id : undefined) ?? parameters.get('client') ?? '';
  const { data: known } = useData(domains, {});
  const form = useRecordForm({
    record: host,
    valuesOf: (record) => valuesOf(record, clientId),
    validate: (values) => ({
      ...(values.clientId === '' && { clientId: t.form.required }),
      ...(values.mode === 'CUSTOM' && values.host.trim() === '' && { host: t.form.required }),
      ...(values.mode === 'PLATFORM' && values.platformDomainId === '' && { platformDomainId: t.errors.codes.PLATFORM_DOMAIN_REQUIRED }),
    }),
    check: async (record, values) => {
      const input = { ...inputOf(values, record), clientId: values.clientId };
      return (await (record === undefined ? run(checkNew, { input }) : run(checkChanged, { id: record.id, input }))).error;
    },
    create: async (values) => {
      const { data, error } = await run(create, { input: { ...inputOf(values, undefined), clientId: values.clientId } });
      return { data: data?.createHost, error };
    },
    update: async (record, values, version) => {
      const { data, error } = await run(update, { id: record.id, version, input: { ...inputOf(values, record), clientId: values.clientId } });
      return { data: data?.updateHost, error };
    },
    read: async (id) => unmask(hostFields, (await ask(hostQuery, { id })).data?.host),
    created: texts.created,
    next: (id) => host === undefined ? `/hosts/${id}` : undefined,
  });
  const { labels, hints } = texts;
  const { values } = form;
  const isPlatform = values.mode === 'PLATFORM';
  const wildcards = known?.platformDomains ?? [];
  const wildcard = wildcards.find(({ id }) => id === values.platformDomainId)?.wildcard;
  const name = isPlatform ? (wildcard === undefined || values.platformPrefix === '' ? '' : wildcard.replace('*', values.platformPrefix)) : values.host;
  const targets = linesOf(values.targets).join(', ');
  const url = host?.publicUrls[0];
  // A web login has one client, and no list.
  const lists: ReadonlyArray<readonly [string, string]> = isLogin ? [] : [['/clients', t.clients.title]];
  return (
    <>
      <PageHead
        title={host === undefined ? texts.createTitle : hostName(host)}
        crumbs={host
          ? [...lists, [`/clients/${host.client.id}`, host.client.remark || t.clients.nameless(host.client.id)]]
          : isLogin
          ? []
          : [['/hosts', t.hosts.title]]}
        actions={host && (
          <>
            <Link className='btn' href={`/diagnosis?url=${encodeURIComponent(url ?? `http://${host.host}${host.location}`)}`}>
              <Icon name='diagnosis' />
              {texts.diagnose}
            </Link>
            {!readOnly && <HostMenu host={host} onChange={onChange} />}
          </>
        )}
      />
      {children}
      {host?.noStore === true ? <Banner tone='accent' role='note' title={texts.readOnly} /> : readOnly ? null : (
        <FormFrame
          form={form}
          labels={labels}
          action={host === undefined ? texts.saveNew : t.actions.save}
          more={<Link className='btn' href={host ? `/clients/${host.client.id}/hosts` : '/hosts'}>{t.actions.discard}</Link>}
        >
          <CardsField form={form} name='mode' label={labels.mode} options={modes.map((mode) => [mode, texts.modes[mode], texts.modeTexts[mode]])} />
          <section className='card card-body' aria-labelledby='h-name'>
            <h2 id='h-name'>{texts.name}</h2>
            <div className='grid-2'>
              {isPlatform
                ? (
                  <>
                    <SelectField
                      form={form}
                      name='platformDomainId'
                      label={labels.platformDomainId}
                      hint={wildcards.length === 0 ? texts.noDomains : undefined}
                      options={[['', '…'], ...wildcards.map(({ id, wildcard: text }) => [id, text] as const)]}
                    />
                    <div className='stack-s'>
                      <TextField
                        form={form}
                        name='platformPrefix'
                        label={labels.platformPrefix}
                        hint={hints.prefix}
                        unit={wildcard?.replace('*', '')}
                      />
                      <PlatformNameCheck
                        domain={values.platformDomainId}
                        prefix={values.platformPrefix}
                        hostId={host?.id}
                        onTake={(prefix) => form.set('platformPrefix', prefix)}
                      />
                    </div>
                  </>
                )
                : <TextField form={form} name='host' label={labels.host} hint={hints.host} isMono />}
              <TextField form={form} name='location' label={labels.location} hint={hints.location} isMono isOptional />
              <TextField form={form} name='remark' label={labels.remark} hint={hints.remark} isOptional />
              <SelectField form={form} name='scheme' label={labels.scheme} options={schemes.map((scheme) => [scheme, texts.schemes[scheme]])} />
            </div>
          </section>
          <section className='card card-body' aria-labelledby='h-to'>
            <h2 id='h-to'>{texts.to}</h2>
            <div className='grid-2'>
              {!isLogin && <ClientField form={form} name='clientId' label={labels.clientId} hint={hints.client} />}
              <LinesField form={form} name='targets' label={labels.targets} hint={hints.targets} />
            </div>
            <TargetCheck clientId={values.clientId} targets={values.targets} />
            {(server.allowLocalProxy || host?.localProxy) && <CheckField form={form} name='localProxy' label={labels.localProxy} hint={hints.localProxy} />}
          </section>
          {values.scheme !== 'HTTP' && (
            <section className='card card-body' aria-labelledby='h-tls'>
              <h2 id='h-tls'>{texts.tls}</h2>
              <CheckField form={form} name='autoHttps' label={labels.autoHttps} />
              {!isPlatform && (
                <>
                  {(server.acme || host?.acme) && <CheckField form={form} name='acme' label={labels.acme} hint={hints.acme} />}
                  <CertificateFields form={form} hasCertificate={host?.hasCertificate ?? false} />
                </>
              )}
            </section>
          )}
          <section className='card card-body' aria-labelledby='h-requests'>
            <h2 id='h-requests'>{texts.more}</h2>
            <div className='grid-2'>
              <LinesField form={form} name='headers' label={labels.headers} hint={hints.headers} isOptional />
              <TextField form={form} name='hostChange' label={labels.hostChange} hint={hints.hostChange} isMono isOptional />
            </div>
          </section>
          {targets === '' && <p className='sentence'>{t.targets.missing}</p>}
          {name !== '' && targets !== '' && <p className='sentence'>{texts.sentence(visitorUrl(server, values.scheme, name, values.location), targets)}</p>}
        </FormFrame>
      )}
    </>
  );
}

/** What can be done with the host. @param onChange called after it was started or stopped */
function HostMenu({ host, onChange }: { readonly host: HostFieldsFragment; readonly onChange: () => void }) {
  const { t } = useLanguage();
  const [, navigate] = useLocation();
  const { startOrStop, resetTraffic, remove } = useHostActions().entries(
    host,
    onChange,
    (isDone) => isDone && navigate(`/clients/${host.client.id}/hosts`),
  );
  const entries = [startOrStop, resetTraffic, remove];
  return <Menu trigger={<Icon name='more' />} label={t.actions.more(hostName(host))} className='btn btn-icon' entries={entries} />;
}
