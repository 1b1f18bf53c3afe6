import { useState } from 'react';
import { Link } from 'wouter';
import { useData, useRun } from '../api/use.ts';
import { graphql } from '../generated/index.ts';
import type { PlatformCertificateStatus, PlatformDomainsQuery } from '../generated/graphql.ts';
import { useLanguage } from '../language/language.tsx';
import { Banner, Empty } from '../parts/banner.tsx';
import { useConfirm } from '../parts/confirm.tsx';
import { Failure } from '../parts/failure.tsx';
import { TextField } from '../parts/field.tsx';
import { textOrNull } from '../parts/form-values.ts';
import { Impact } from '../parts/impact.tsx';
import { FormFrame, useForm } from '../parts/form.tsx';
import { failureOf } from '../api/failure.ts';
import { RowMenu } from '../parts/menu.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { State, type Tone } from '../parts/state.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { useToast } from '../parts/toast.tsx';
import { useViewer } from '../shell/viewer.tsx';

const domainsQuery = graphql(`
  query PlatformDomains {
    globalSettings { version }
    platformDomains { id wildcard certificateConfigured certificatePath privateKeyPath referenceCount certificate { status daysRemaining } }
  }
`);
const save = graphql(`
  mutation SavePlatformDomains($version: String, $domains: [PlatformDomainInput!]!) {
    updateGlobalSettings(expectedVersion: $version, input: { platformDomains: $domains }) {
      version
      platformDomains { id wildcard certificateConfigured certificatePath privateKeyPath referenceCount certificate { status daysRemaining } }
    }
  }
`);

type Domain = PlatformDomainsQuery['platformDomains'][number];

const tones: Record<PlatformCertificateStatus, Tone> = {
  NONE: 'off',
  CANNOT_LOAD: 'danger',
  EMPTY: 'danger',
  CANNOT_PARSE: 'danger',
  NOT_COVERED: 'danger',
  EXPIRED: 'danger',
  NOT_YET_VALID: 'danger',
  EXPIRING: 'warn',
  VALID: 'ok',
};

/** `/platform-domains`: the domains below which users choose names, for administrators. */
export default function PlatformDomainsPage() {
  const { t, f } = useLanguage();
  const { readOnly } = useViewer();
  const { data, error, refetch } = useData(domainsQuery, {});
  const run = useRun();
  const ask = useConfirm();
  const toast = useToast();
  const [edited, setEdited] = useState<Domain>();
  const [failure, setFailure] = useState<string>();
  const texts = t.server.domains;
  const rows = data?.platformDomains;
  const version = data?.globalSettings?.version ?? null;

  async function remove(domain: Domain): Promise<void> {
    const body = <Impact resource='PLATFORM_DOMAIN' ids={[domain.id]} text={texts.removeText} note={texts.removeNote} />;
    if (!await ask({ title: texts.removeTitle(domain.wildcard), body, action: texts.remove })) return;
    const kept = (rows ?? []).filter(({ id }) => id !== domain.id).map(inputOf);
    const { error: refusal } = await run(save, { version, domains: kept });
    setFailure(refusal && failureOf(refusal, t).text);
    if (refusal === undefined) toast(texts.saved);
    refetch();
  }
  const columns: ReadonlyArray<Column<Domain>> = [
    { key: 'name', head: texts.columns.name, cell: ({ wildcard }) => <span className='mono'>{wildcard}</span> },
    {
      key: 'certificate',
      head: texts.columns.certificate,
      isState: true,
      cell: ({ certificate }) =>
        certificate && (
          <>
            <State tone={tones[certificate.status]}>{texts.states[certificate.status]}</State>
            {typeof certificate.daysRemaining === 'number' && <span className='sub'>{t.hosts.certificate.daysLeft(certificate.daysRemaining)}</span>}
          </>
        ),
    },
    {
      key: 'files',
      head: texts.columns.files,
      leaves: 2,
      cell: ({ certificatePath, privateKeyPath }) => <span className='mono small'>{[certificatePath, privateKeyPath].filter(Boolean).join(', ')}</span>,
    },
    {
      key: 'hosts',
      head: texts.columns.hosts,
      leaves: 1,
      isNumber: true,
      cell: ({ id, referenceCount }) => <Link href={`/hosts?domain=${id}`}>{f.number(referenceCount ?? 0)}</Link>,
    },
  ];
  return (
    <>
      <PageHead title={texts.title}>{texts.subtitle}</PageHead>
      <Failure error={error} onRetry={refetch} />
      {failure !== undefined && <Banner tone='danger' role='alert' title={failure} />}
      <section className='card' aria-label={texts.title}>
        {rows?.length === 0 ? <Empty icon='domain' title={texts.noneTitle}>{texts.noneText}</Empty> : (
          <Table
            caption={texts.title}
            rows={rows}
            columns={columns}
            idOf={({ id }) => id}
            nameOf={({ wildcard }) => wildcard}
            {...(!readOnly && {
              menu: (row: Domain) => (
                <RowMenu
                  name={row.wildcard}
                  entries={[
                    { label: t.actions.change, onChoose: () => setEdited(row) },
                    { label: texts.remove, isDanger: true, onChoose: () => void remove(row) },
                  ]}
                />
              ),
            })}
          />
        )}
      </section>
      {!readOnly && rows && (
        <DomainForm
          key={edited?.id ?? `new-${rows.length}`}
          domain={edited}
          version={version}
          others={rows.filter(({ id }) => id !== edited?.id)}
          onDone={() => {
            setEdited(undefined);
            refetch();
          }}
        />
      )}
    </>
  );
}

/** @param version of the settings that `others` are of: all domains are saved together */
function DomainForm({ domain, version, others, onDone }: {
  readonly domain: Domain | undefined;
  readonly version: string | null;
  readonly others: readonly Domain[];
  readonly onDone: () => void;
}) {
  const { t } = useLanguage();
  const run = useRun();
  const toast = useToast();
  const texts = t.server.domains;
  const { labels, hints } = texts;
  const form = useForm({
    initial: { wildcard: domain?.wildcard ?? '', certificatePath: domain?.certificatePath ?? '', privateKeyPath: domain?.privateKeyPath ?? '' },
    validate: ({ wildcard }) => wildcard.trim() === '' ? { wildcard: t.form.required } : {},
    save: async ({ wildcard, certificatePath, privateKeyPath }) => {
      const own = {
        id: domain?.id ?? null,
        wildcard: wildcard.trim(),
        certificatePath: textOrNull(certificatePath),
        privateKeyPath: textOrNull(privateKeyPath),
      };
      const { data, error } = await run(save, { version, domains: [...others.map(inputOf), own] });
      return { data: data?.updateGlobalSettings, error };
    },
    onSaved: () => {
      toast(texts.saved);
      onDone();
    },
  });
  return (
    <section className='card' aria-labelledby='h-domain'>
      <div className='card-head'>
        <h2 id='h-domain'>{domain === undefined ? texts.addTitle : texts.editTitle(domain.wildcard)}</h2>
      </div>
      <FormFrame
        form={form}
        labels={labels}
        action={domain === undefined ? texts.add : t.actions.save}
        className='card-body stack plain-form'
        more={domain && <button type='button' className='btn' onClick={onDone}>{t.actions.discard}</button>}
      >
        <div className='grid-3'>
          <TextField form={form} name='wildcard' label={labels.wildcard} hint={hints.wildcard} isMono />
          <TextField form={form} name='certificatePath' label={labels.certificatePath} hint={hints.path} isMono isOptional />
          <TextField form={form} name='privateKeyPath' label={labels.privateKeyPath} isMono isOptional />
        </div>
      </FormFrame>
    </section>
  );
}

function inputOf({ id, wildcard, certificatePath, privateKeyPath }: Domain) {
  return { id, wildcard, certificatePath: certificatePath ?? null, privateKeyPath: privateKeyPath ?? null };
}
