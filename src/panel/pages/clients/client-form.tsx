import { Link } from 'wouter';
import { useAsk, useData, useRun } from '../../api/use.ts';
import { graphql, unmask } from '../../generated/index.ts';
import type { ClientFieldsFragment, CreateClientInput, UpdateClientInput } from '../../generated/graphql.ts';
import { useLanguage } from '../../language/language.tsx';
import { CheckField, LinesField, SelectField, TextField } from '../../parts/field.tsx';
import { checked, isChecked, isCount, linesOf, localTime, numberOrNull, textOrNull, timeOrNull } from '../../parts/form-values.ts';
import { FormFrame } from '../../parts/form.tsx';
import { Loading } from '../../parts/loading.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { useRecordForm } from '../../parts/record-form.ts';
import { useViewer } from '../../shell/viewer.tsx';
import { useOwners } from './owner-filter.tsx';

const clientFields = graphql(`
  fragment ClientFields on Client {
    id version remark verifyKey compress encrypt configAllowed rateLimit flowLimit maxConnections maxTunnels basicUser hasBasicPassword
    blocklist allowlistEnabled allowlist hasAllowlistPassword expiresAt webUsername hasWebPassword owner { id username }
  }
`);
const clientQuery = graphql(`
  query ClientForm($id: ID!) { client(id: $id) { id ...ClientFields } }
`);
const checkNew = graphql(`
  mutation CheckNewClient($input: CreateClientInput!) { createClient(dryRun: true, input: $input) { id } }
`);
const checkChanged = graphql(`
  mutation CheckChangedClient($id: ID!, $input: UpdateClientInput!) { updateClient(id: $id, dryRun: true, input: $input) { id } }
`);
const create = graphql(`
  mutation CreateClient($input: CreateClientInput!) { createClient(input: $input) { id } }
`);
const update = graphql(`
  mutation UpdateClient($id: ID!, $version: String, $input: UpdateClientInput!) {
    updateClient(id: $id, expectedVersion: $version, input: $input) { id version ...ClientFields ...ClientState }
  }
`);

type Client = ClientFieldsFragment;
const numbers = ['rateLimit', 'flowLimit', 'maxConnections', 'maxTunnels'] as const;
const passwords = ['basicPassword', 'allowlistPassword', 'webPassword'] as const;

/** `/clients/new` and `/clients/3/edit`. @param id of the client to change; undefined = a new one */
export default function ClientForm({ id }: { readonly id?: string }) {
  const { t } = useLanguage();
  const { data } = useData(clientQuery, { id: id ?? '' }, { pause: id === undefined });
  const client = unmask(clientFields, data?.client);
  if (id !== undefined && data === undefined) return <Loading />;
  if (id !== undefined && !client) return <PageHead title={t.clients.nameless(id)} crumbs={[['/clients', t.clients.title]]}>{t.shell.recordMissing}</PageHead>;
  return <Loaded key={id} client={client ?? undefined} />;
}

function Loaded({ client }: { readonly client: Client | undefined }) {
  const { t, f } = useLanguage();
  const { isAdministrator, role } = useViewer();
  const run = useRun();
  const ask = useAsk();
  const owners = useOwners(!isAdministrator);
  const { form: texts } = t.clients;
  const isLogin = role === 'CLIENT';
  const form = useRecordForm({
    record: client,
    valuesOf,
    validate: (values) => Object.fromEntries(numbers.filter((name) => !isCount(values[name])).map((name) => [name, t.form.notANumber])),
    check: async (record, values) => {
      const input = inputOf(values, record, isAdministrator);
      return (await (record === undefined ? run(checkNew, { input }) : run(checkChanged, { id: record.id, input }))).error;
    },
    create: async (values) => {
      const { data, error } = await run(create, { input: inputOf(values, undefined, isAdministrator) });
      return { data: data?.createClient, error };
    },
    update: async (record, values, version) => {
      const { data, error } = await run(update, { id: record.id, version, input: inputOf(values, record, isAdministrator) });
      return { data: data?.updateClient, error };
    },
    read: async (id) => unmask(clientFields, (await ask(clientQuery, { id })).data?.client),
    created: texts.created,
    next: (id) => `/clients/${id}`,
  });
  const { hints, sections } = texts;
  const labels = { ...texts.labels, removeAllowlistPassword: texts.removePassword };
  const name = client && (client.remark || t.clients.nameless(client.id));
  // There may be more users than the list has.
  const current = client?.owner && owners.every(([id]) => id !== client.owner?.id) ? [[client.owner.id, client.owner.username] as const] : [];
  const rate = Number(form.values.rateLimit);
  const flow = Number(form.values.flowLimit);
  const passwordHint = (isSet: boolean | undefined): string | undefined => isSet === undefined ? undefined : isSet ? hints.kept : hints.noPassword;
  return (
    <>
      <PageHead
        title={name === undefined ? texts.createTitle : texts.editTitle(name)}
        crumbs={isLogin || client === undefined
          ? (isLogin ? [] : [['/clients', t.clients.title]])
          : [['/clients', t.clients.title], [`/clients/${client.id}`, name ?? '']]}
      />
      <FormFrame
        form={form}
        labels={labels}
        action={client === undefined ? texts.saveNew : t.actions.save}
        more={<Link className='btn' href={client ? `/clients/${client.id}` : '/clients'}>{t.actions.discard}</Link>}
      >
        <section className='card card-body' aria-labelledby='h-general'>
          <h2 id='h-general'>{sections.general}</h2>
          <div className='grid-2'>
            <TextField form={form} name='remark' label={labels.remark} hint={hints.remark} isOptional />
            {isAdministrator && (
              <>
                <TextField
                  form={form}
                  name='verifyKey'
                  label={labels.verifyKey}
                  hint={client ? hints.verifyKeyEdit : hints.verifyKey}
                  isMono
                  isOptional={!client}
                />
                <SelectField form={form} name='ownerId' label={labels.ownerId} options={[['', texts.nobody], ...current, ...owners]} />
                <TextField
                  form={form}
                  name='expiresAt'
                  label={labels.expiresAt}
                  type='datetime-local'
                  hint={t.form.timeHint(f.zone) + t.punctuation.gap + hints.expiresAt}
                  isOptional
                />
              </>
            )}
          </div>
          <div className='stack-s'>
            {isAdministrator && <CheckField form={form} name='configAllowed' label={labels.configAllowed} />}
            <CheckField form={form} name='compress' label={labels.compress} />
            <CheckField form={form} name='encrypt' label={labels.encrypt} />
          </div>
        </section>
        {isAdministrator && (
          <section className='card card-body' aria-labelledby='h-limits'>
            <h2 id='h-limits'>{sections.limits}</h2>
            <div className='grid-2'>
              <TextField
                form={form}
                name='flowLimit'
                label={labels.flowLimit}
                unit='MiB'
                isNumber
                hint={<>{hints.flowLimit} {flow > 0 && t.form.kib(f.bytes(flow * 1024 * 1024))}</>}
              />
              <TextField
                form={form}
                name='rateLimit'
                label={labels.rateLimit}
                unit='KiB/s'
                isNumber
                hint={<>{hints.rateLimit} {rate > 0 && t.form.kib(f.rate(rate * 1024))}</>}
              />
              <TextField form={form} name='maxConnections' label={labels.maxConnections} isNumber hint={hints.maxConnections} />
              <TextField form={form} name='maxTunnels' label={labels.maxTunnels} isNumber hint={hints.maxTunnels} />
            </div>
          </section>
        )}
        <section className='card card-body' aria-labelledby='h-visitors'>
          <h2 id='h-visitors'>{sections.visitors}</h2>
          <div className='grid-2'>
            <TextField form={form} name='basicUser' label={labels.basicUser} hint={hints.basicUser} isOptional />
            <TextField
              form={form}
              name='basicPassword'
              label={labels.basicPassword}
              type='password'
              autoComplete='new-password'
              hint={passwordHint(client?.hasBasicPassword)}
              isOptional
            />
            <LinesField form={form} name='blocklist' label={labels.blocklist} hint={hints.addresses} isOptional />
            <LinesField form={form} name='allowlist' label={labels.allowlist} hint={hints.addresses} isOptional />
            <CheckField form={form} name='allowlistEnabled' label={labels.allowlistEnabled} />
            <TextField
              form={form}
              name='allowlistPassword'
              label={labels.allowlistPassword}
              type='password'
              autoComplete='new-password'
              hint={passwordHint(client?.hasAllowlistPassword)}
              isOptional
            />
            {client?.hasAllowlistPassword && <CheckField form={form} name='removeAllowlistPassword' label={texts.removePassword} />}
          </div>
        </section>
        {isAdministrator && (
          <section className='card card-body' aria-labelledby='h-login'>
            <h2 id='h-login'>{sections.login}</h2>
            <p className='hint'>{hints.login}</p>
            <div className='grid-2'>
              <TextField form={form} name='webUsername' label={labels.webUsername} isOptional />
              <TextField
                form={form}
                name='webPassword'
                label={labels.webPassword}
                type='password'
                autoComplete='new-password'
                hint={passwordHint(client?.hasWebPassword)}
                isOptional
              />
            </div>
          </section>
        )}
      </FormFrame>
    </>
  );
}

function valuesOf(client: Client | undefined) {
  return {
    remark: client?.remark ?? '',
    verifyKey: client?.verifyKey ?? '',
    ownerId: client?.owner?.id ?? '',
    expiresAt: localTime(client?.expiresAt ?? null),
    compress: checked(client?.compress ?? false),
    encrypt: checked(client?.encrypt ?? false),
    configAllowed: checked(client?.configAllowed ?? true),
    rateLimit: String(client?.rateLimit ?? ''),
    flowLimit: String(client?.flowLimit ?? ''),
    maxConnections: String(client?.maxConnections ?? ''),
    maxTunnels: String(client?.maxTunnels ?? ''),
    basicUser: client?.basicUser ?? '',
    basicPassword: '',
    blocklist: client?.blocklist.join('\n') ?? '',
    allowlistEnabled: checked(client?.allowlistEnabled ?? false),
    allowlist: client?.allowlist.join('\n') ?? '',
    allowlistPassword: '',
    removeAllowlistPassword: '',
    webUsername: client?.webUsername ?? '',
    webPassword: '',
  };
}

/** Passwords are only sent if they were entered, or if they end with the name that they belong to. Some fields are only for administrators. */
function inputOf(values: ReturnType<typeof valuesOf>, client: Client | undefined, isAdministrator: boolean): CreateClientInput & UpdateClientInput {
  const input: CreateClientInput & UpdateClientInput = {
    remark: textOrNull(values.remark),
    compress: isChecked(values.compress),
    encrypt: isChecked(values.encrypt),
    basicUser: textOrNull(values.basicUser),
    blocklist: linesOf(values.blocklist),
    allowlistEnabled: isChecked(values.allowlistEnabled),
    allowlist: linesOf(values.allowlist),
    ...(isAdministrator && {
      ownerId: textOrNull(values.ownerId),
      configAllowed: isChecked(values.configAllowed),
      rateLimit: numberOrNull(values.rateLimit),
      flowLimit: numberOrNull(values.flowLimit),
      maxConnections: numberOrNull(values.maxConnections),
      maxTunnels: numberOrNull(values.maxTunnels),
      expiresAt: timeOrNull(values.expiresAt),
      webUsername: textOrNull(values.webUsername),
    }),
  };
  if (isAdministrator && values.verifyKey !== (client?.verifyKey ?? '')) input.verifyKey = textOrNull(values.verifyKey);
  for (const name of passwords) if (values[name] !== '') input[name] = values[name];
  if (isChecked(values.removeAllowlistPassword) && values.allowlistPassword === '') input.allowlistPassword = null;
  if (values.basicUser === '' && client?.hasBasicPassword) input.basicPassword = null;
  if (values.webUsername === '' && client?.hasWebPassword) input.webPassword = null;
  return input;
}
