import { Link } from 'wouter';
import { useAsk, useData, useRun } from '../../api/use.ts';
import { graphql, unmask } from '../../generated/index.ts';
import type { CreateUserInput, UserFieldsFragment } from '../../generated/graphql.ts';
import { useLanguage } from '../../language/language.tsx';
import { TrafficChart } from '../../parts/chart/traffic-chart.tsx';
import { TextField } from '../../parts/field.tsx';
import { isCount, localTime, numberOrNull, textOrNull, timeOrNull } from '../../parts/form-values.ts';
import { FormFrame } from '../../parts/form.tsx';
import { Loading } from '../../parts/loading.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { useRecordForm } from '../../parts/record-form.ts';
import { useViewer } from '../../shell/viewer.tsx';

const userFields = graphql(`
  fragment UserFields on User { id version username remark maxClients maxTunnels expiresAt }
`);
const userQuery = graphql(`
  query UserForm($id: ID!) { user(id: $id) { id ...UserFields } }
`);
const checkNew = graphql(`
  mutation CheckNewUser($input: CreateUserInput!) { createUser(dryRun: true, input: $input) { id } }
`);
const checkChanged = graphql(`
  mutation CheckChangedUser($id: ID!, $input: UpdateUserInput!) { updateUser(id: $id, dryRun: true, input: $input) { id } }
`);
const create = graphql(`
  mutation CreateUser($input: CreateUserInput!) { createUser(input: $input) { id } }
`);
const update = graphql(`
  mutation UpdateUser($id: ID!, $version: String, $input: UpdateUserInput!) {
    updateUser(id: $id, expectedVersion: $version, input: $input) { id version ...UserFields }
  }
`);

const numbers = ['maxClients', 'maxTunnels'] as const;

/** `/users/new` and `/users/7`, for administrators. @param id of the user to change; undefined = a new one */
export default function UserForm({ id }: { readonly id?: string }) {
  const { t } = useLanguage();
  const { data } = useData(userQuery, { id: id ?? '' }, { pause: id === undefined });
  if (id === undefined) return <Loaded user={undefined} />;
  if (data === undefined) return <Loading />;
  if (!data.user) return <PageHead title={t.people.users.title} crumbs={[['/users', t.people.users.title]]}>{t.shell.recordMissing}</PageHead>;
  return <Loaded key={id} user={unmask(userFields, data.user)} />;
}

function Loaded({ user }: { readonly user: UserFieldsFragment | undefined }) {
  const { t, f } = useLanguage();
  const { readOnly } = useViewer();
  const run = useRun();
  const ask = useAsk();
  const { form: texts, users } = t.people;
  const form = useRecordForm({
    record: user,
    valuesOf,
    validate: (values) => Object.fromEntries(numbers.filter((name) => !isCount(values[name])).map((name) => [name, t.form.notANumber])),
    check: async (record, values) => {
      const input = inputOf(values);
      return (await (record === undefined ? run(checkNew, { input }) : run(checkChanged, { id: record.id, input: changesOf(input) }))).error;
    },
    create: async (values) => {
      const { data, error } = await run(create, { input: inputOf(values) });
      return { data: data?.createUser, error };
    },
    update: async ({ id }, values, version) => {
      const { data, error } = await run(update, { id, version, input: changesOf(inputOf(values)) });
      return { data: data?.updateUser, error };
    },
    read: async (id) => unmask(userFields, (await ask(userQuery, { id })).data?.user),
    created: texts.created,
    next: () => '/users',
  });
  const { labels, hints } = texts;
  return (
    <>
      <PageHead
        title={user === undefined ? texts.createTitle : user.username}
        crumbs={[['/users', users.title]]}
        actions={user && <Link className='btn' href={`/clients?owner=${user.id}`}>{texts.clients}</Link>}
      />
      {user && (
        <section className='card' aria-labelledby='h-traffic'>
          <div className='card-head'>
            <h2 id='h-traffic'>{texts.traffic}</h2>
          </div>
          <div className='card-body'>
            <TrafficChart resource='USER' id={user.id} />
          </div>
        </section>
      )}
      {!readOnly && (
        <FormFrame
          form={form}
          labels={labels}
          action={user === undefined ? texts.saveNew : t.actions.save}
          more={<Link className='btn' href='/users'>{t.actions.discard}</Link>}
        >
          <section className='card card-body' aria-labelledby='h-account'>
            <h2 id='h-account'>{texts.account}</h2>
            <div className='grid-2'>
              <TextField form={form} name='username' label={labels.username} hint={hints.username} />
              <TextField
                form={form}
                name='password'
                label={labels.password}
                type='password'
                autoComplete='new-password'
                hint={user === undefined ? hints.password : hints.passwordKept}
                isOptional={user !== undefined}
              />
              <TextField form={form} name='maxClients' label={labels.maxClients} hint={hints.maxClients} isNumber isOptional />
              <TextField form={form} name='maxTunnels' label={labels.maxTunnels} hint={hints.maxTunnels} isNumber isOptional />
              <TextField
                form={form}
                name='expiresAt'
                label={labels.expiresAt}
                type='datetime-local'
                hint={t.form.timeHint(f.zone) + t.punctuation.gap + hints.expiresAt}
                isOptional
              />
              <TextField form={form} name='remark' label={labels.remark} hint={hints.remark} isOptional />
            </div>
          </section>
        </FormFrame>
      )}
    </>
  );
}

function valuesOf(user: UserFieldsFragment | undefined) {
  return {
    username: user?.username ?? '',
    password: '',
    remark: user?.remark ?? '',
    maxClients: String(user?.maxClients ?? ''),
    maxTunnels: String(user?.maxTunnels ?? ''),
    expiresAt: localTime(user?.expiresAt ?? null),
  };
}

function inputOf(values: ReturnType<typeof valuesOf>): CreateUserInput {
  return {
    username: values.username,
    password: values.password,
    remark: textOrNull(values.remark),
    maxClients: numberOrNull(values.maxClients),
    maxTunnels: numberOrNull(values.maxTunnels),
    expiresAt: timeOrNull(values.expiresAt),
  };
}

/** Without a new password, the user keeps theirs. */
function changesOf({ password, ...input }: ReturnType<typeof inputOf>) {
  return { ...input, ...(password !== '' && { password }) };
}
