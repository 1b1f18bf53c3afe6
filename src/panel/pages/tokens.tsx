import { useState } from 'react';
import { useData, useRun } from '../api/use.ts';
import { graphql } from '../generated/index.ts';
import type { TokensQuery } from '../generated/graphql.ts';
import { useLanguage } from '../language/language.tsx';
import { Banner, Empty } from '../parts/banner.tsx';
import { useConfirm } from '../parts/confirm.tsx';
import { Command } from '../parts/copy.tsx';
import { Failure } from '../parts/failure.tsx';
import { CheckField, SelectField, TextField } from '../parts/field.tsx';
import { isChecked, timeOrNull } from '../parts/form-values.ts';
import { FormFrame, useForm } from '../parts/form.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { useReport } from '../parts/toast.tsx';
import { useViewer } from '../shell/viewer.tsx';

const tokensQuery = graphql(`
  query Tokens { apiTokens { id name readOnly scope secrets expiresAt createdAt lastUsedAt user { id username } } }
`);
const create = graphql(`
  mutation CreateToken($input: CreateApiTokenInput!) { createApiToken(input: $input) { token apiToken { id name } } }
`);
const revoke = graphql(`
  mutation RevokeToken($id: ID!) { revokeApiToken(id: $id) }
`);

type Row = NonNullable<TokensQuery['apiTokens']>[number];

/** `/tokens`: the tokens of programs. A new token is shown once. */
export default function TokensPage() {
  const { t, f } = useLanguage();
  const { readOnly, isAdministrator } = useViewer();
  const { data, error, refetch } = useData(tokensQuery, {});
  const run = useRun();
  const ask = useConfirm();
  const report = useReport();
  const [made, setMade] = useState<{ readonly token: string; readonly name: string }>();
  const texts = t.people.tokens;
  const rows = data?.apiTokens ?? undefined;

  async function revokeToken({ id, name }: Row): Promise<void> {
    if (!await ask({ title: texts.revokeTitle(name), body: <p>{texts.revokeText}</p>, action: texts.revoke })) return;
    report((await run(revoke, { id })).error, texts.revoked);
    refetch();
  }

  const rights = ({ scope, readOnly: isReadOnly, secrets }: Row): string =>
    scope === 'WALL' ? texts.wall : [isReadOnly ? texts.readOnly : texts.all, secrets ? texts.secrets : texts.noSecrets].join(t.punctuation.comma);
  const columns: ReadonlyArray<Column<Row>> = [
    {
      key: 'name',
      head: texts.columns.name,
      cell: ({ name, id }) => (
        <>
          {name} <span className='muted xs'>#{id}</span>
        </>
      ),
    },
    ...(isAdministrator ? [{ key: 'user', head: texts.columns.user, leaves: 2, cell: ({ user }: Row) => user?.username ?? texts.administrator } as const] : []),
    { key: 'rights', head: texts.columns.rights, isState: true, cell: rights },
    {
      key: 'expires',
      head: texts.columns.expires,
      leaves: 2,
      cell: ({ expiresAt }) => expiresAt ? f.short(expiresAt) : <span className='muted'>{t.words.never}</span>,
    },
    {
      key: 'used',
      head: texts.columns.lastUsed,
      leaves: 1,
      cell: ({ lastUsedAt }) => lastUsedAt ? f.short(lastUsedAt) : <span className='muted'>{t.words.notYet}</span>,
    },
    { key: 'created', head: texts.columns.created, leaves: 3, cell: ({ createdAt }) => f.day(createdAt) },
  ];
  return (
    <>
      <PageHead title={texts.title}>{texts.subtitle}</PageHead>
      <Failure error={error} onRetry={refetch} />
      {made && (
        <div className='card card-body stack'>
          <Banner tone='ok' title={texts.shownOnce} />
          <Command title={texts.tokenTitle(made.name)} text={made.token} />
        </div>
      )}
      <section className='card' aria-label={texts.title}>
        {rows?.length === 0 ? <Empty icon='key' title={texts.noneTitle}>{texts.noneText}</Empty> : (
          <Table
            caption={texts.title}
            rows={rows}
            columns={columns}
            idOf={({ id }) => id}
            nameOf={({ name }) => name}
            {...(!readOnly && {
              menu: (row: Row) => (
                <button
                  type='button'
                  className='btn btn-s'
                  aria-label={texts.revoke + t.punctuation.colon + row.name}
                  onClick={() => void revokeToken(row)}
                >
                  {texts.revoke}
                </button>
              ),
            })}
          />
        )}
      </section>
      {!readOnly && (
        <NewToken
          onMade={(token) => {
            setMade(token);
            refetch();
          }}
        />
      )}
    </>
  );
}

function NewToken({ onMade }: { readonly onMade: (made: { readonly token: string; readonly name: string }) => void }) {
  const { t, f } = useLanguage();
  const run = useRun();
  const texts = t.people.tokens;
  const { labels, hints } = texts;
  const initial = { name: '', access: 'READ', secrets: '', expiresAt: '' };
  const form = useForm({
    initial,
    validate: ({ name }) => name.trim() === '' ? { name: t.form.required } : {},
    save: async ({ name, access, secrets, expiresAt }) => {
      const input = {
        name: name.trim(),
        readOnly: access !== 'ALL',
        scope: access === 'WALL' ? 'WALL' as const : 'ALL' as const,
        secrets: isChecked(secrets),
        expiresAt: timeOrNull(expiresAt),
      };
      const { data, error } = await run(create, { input });
      return { data: data?.createApiToken, error };
    },
    onSaved: ({ token, apiToken }) => {
      form.reset();
      onMade({ token, name: apiToken.name });
      window.scrollTo(0, 0);
    },
  });
  return (
    <section className='card' aria-labelledby='h-new'>
      <div className='card-head'>
        <h2 id='h-new'>{texts.createTitle}</h2>
      </div>
      <FormFrame form={form} labels={labels} action={texts.create} className='card-body stack plain-form'>
        <div className='grid-2'>
          <TextField form={form} name='name' label={labels.name} hint={hints.name} />
          <SelectField
            form={form}
            name='access'
            label={labels.access}
            options={[['READ', texts.access.READ], ['ALL', texts.access.ALL], ['WALL', texts.access.WALL]]}
          />
          <TextField form={form} name='expiresAt' label={labels.expiresAt} type='datetime-local' hint={t.form.timeHint(f.zone)} isOptional />
          {form.values.access !== 'WALL' && <CheckField form={form} name='secrets' label={labels.secrets} hint={hints.secrets} />}
        </div>
      </FormFrame>
    </section>
  );
}
