import type { ReactNode } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { useEvents } from '../../api/live.ts';
import { useAsk, useData, useRun } from '../../api/use.ts';
import { graphql, unmask } from '../../generated/index.ts';
import type { CreateTunnelInput, ProxyProtocol, TunnelFieldsFragment, TunnelMode } from '../../generated/graphql.ts';
import { useLanguage } from '../../language/language.tsx';
import { AgentFile, bridgeAddress, shellWord } from '../../parts/agent-program.tsx';
import { Banner } from '../../parts/banner.tsx';
import { ClientField } from '../../parts/client-field.tsx';
import { Command } from '../../parts/copy.tsx';
import { CardsField, CheckField, LinesField, SelectField, TextField } from '../../parts/field.tsx';
import { checked, isChecked, isPort, linesOf, numberOrNull, textOrNull } from '../../parts/form-values.ts';
import { FormFrame } from '../../parts/form.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Menu } from '../../parts/menu.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { useRecordForm } from '../../parts/record-form.ts';
import { TargetCheck } from '../../parts/target-check.tsx';
import { useViewer } from '../../shell/viewer.tsx';
import { useTunnelActions } from './tunnel-actions.tsx';
import { TunnelOverview } from './tunnel-overview.tsx';

const tunnelFields = graphql(`
  fragment TunnelFields on Tunnel {
    id version mode remark port serverIp targets localProxy password localPath stripPrefix proxyProtocol noStore enabled client { id remark }
  }
`);
const tunnelQuery = graphql(`
  query TunnelForm($id: ID!) { tunnel(id: $id) { id ...TunnelFields ...TunnelOverview } }
`);
const changed = graphql(`
  subscription TunnelPageChanged($id: ID!) { tunnelChanged(id: $id) { id tunnel { id ...TunnelOverview } } }
`);
const checkNew = graphql(`
  mutation CheckNewTunnel($input: CreateTunnelInput!) { createTunnel(dryRun: true, input: $input) { id } }
`);
const checkChanged = graphql(`
  mutation CheckChangedTunnel($id: ID!, $input: UpdateTunnelInput!) { updateTunnel(id: $id, dryRun: true, input: $input) { id } }
`);
const create = graphql(`
  mutation CreateTunnel($input: CreateTunnelInput!) { createTunnel(input: $input) { id } }
`);
const update = graphql(`
  mutation UpdateTunnel($id: ID!, $version: String, $input: UpdateTunnelInput!) {
    updateTunnel(id: $id, expectedVersion: $version, input: $input) { id version ...TunnelFields ...TunnelRow }
  }
`);

type Tunnel = TunnelFieldsFragment;
/** The numbers of the page are read again after this many ms. */
const movingMs = 5000;
const modes: readonly TunnelMode[] = ['TCP', 'UDP', 'HTTP_PROXY', 'SOCKS5', 'SECRET', 'P2P', 'FILE'];
const protocols: readonly ProxyProtocol[] = ['OFF', 'V1', 'V2'];
/** The fields that a type of tunnel uses, besides client, note and type. */
const uses: Record<TunnelMode, ReadonlySet<string>> = {
  TCP: new Set(['port', 'serverIp', 'targets', 'proxyProtocol']),
  UDP: new Set(['port', 'serverIp', 'targets']),
  HTTP_PROXY: new Set(['port', 'serverIp']),
  SOCKS5: new Set(['port', 'serverIp']),
  SECRET: new Set(['targets', 'password', 'proxyProtocol']),
  P2P: new Set(['targets', 'password']),
  FILE: new Set(['port', 'serverIp', 'localPath', 'stripPrefix']),
};

/** `/tunnels/new` and `/tunnels/18`. @param id of the tunnel to change; undefined = a new one */
export default function TunnelForm({ id }: { readonly id?: string }) {
  const { t } = useLanguage();
  const { data, refetch } = useData(tunnelQuery, { id: id ?? '' }, { pause: id === undefined, everyMs: movingMs });
  useEvents(changed, { id: id ?? '' }, () => refetch(), { pause: id === undefined });
  if (id === undefined) return <Loaded tunnel={undefined} onChange={refetch} />;
  if (data === undefined) return <Loading />;
  if (!data.tunnel) return <PageHead title={t.tunnels.nameless(id)} crumbs={[['/tunnels', t.tunnels.title]]}>{t.shell.recordMissing}</PageHead>;
  return (
    <Loaded key={id} tunnel={unmask(tunnelFields, data.tunnel)} onChange={refetch}>
      <TunnelOverview of={data.tunnel} />
    </Loaded>
  );
}

function Loaded({ tunnel, onChange, children }: { readonly tunnel: Tunnel | undefined; readonly onChange: () => void; readonly children?: ReactNode }) {
  const { t } = useLanguage();
  const { readOnly, role, client: ownClient, server } = useViewer();
  const [parameters] = useSearchParams();
  const run = useRun();
  const ask = useAsk();
  const { form: texts } = t.tunnels;
  const isLogin = role === 'CLIENT';
  const asked = {
    clientId: (isLogin ? ownClient?.id : undefined) ?? parameters.get('client') ?? '',
    mode: modes.find((mode) => mode === parameters.get('type')),
  };
  const form = useRecordForm({
    record: tunnel,
    valuesOf: (record) => valuesOf(record, asked),
    validate: (values) => ({
      ...(values.clientId === '' && { clientId: t.form.required }),
      ...(!isPort(values.port) && { port: t.form.notAPort }),
    }),
    check: async (record, values) => {
      const input = inputOf(values);
      return (await (record === undefined ? run(checkNew, { input }) : run(checkChanged, { id: record.id, input }))).error;
    },
    create: async (values) => {
      const { data, error } = await run(create, { input: inputOf(values) });
      return { data: data?.createTunnel, error };
    },
    update: async ({ id }, values, version) => {
      const { data, error } = await run(update, { id, version, input: inputOf(values) });
      return { data: data?.updateTunnel, error };
    },
    read: async (id) => unmask(tunnelFields, (await ask(tunnelQuery, { id })).data?.tunnel),
    created: texts.created,
    next: (id) => tunnel === undefined ? `/tunnels/${id}` : undefined,
  });
  const { labels, hints } = texts;
  const mode = modes.find((name) => name === form.values.mode) ?? 'TCP';
  const has = (name: string): boolean => uses[mode].has(name);
  const name = tunnel && (tunnel.remark || t.tunnels.nameless(tunnel.id));
  const targets = linesOf(form.values.targets).join(', ');
  // A web login has one client, and no list.
  const lists: ReadonlyArray<readonly [string, string]> = isLogin ? [] : [['/clients', t.clients.title]];
  return (
    <>
      <PageHead
        title={name === undefined ? texts.createTitle : texts.editTitle(name)}
        crumbs={tunnel
          ? [...lists, [`/clients/${tunnel.client.id}`, tunnel.client.remark || t.clients.nameless(tunnel.client.id)]]
          : isLogin
          ? []
          : [['/tunnels', t.tunnels.title]]}
        actions={tunnel && (
          <>
            <Link className='btn' href={`/diagnosis?tunnel=${tunnel.id}`}>
              <Icon name='diagnosis' />
              {texts.probe}
            </Link>
            {!readOnly && <TunnelMenu tunnel={tunnel} onChange={onChange} />}
          </>
        )}
      />
      {children}
      {tunnel && (tunnel.mode === 'SECRET' || tunnel.mode === 'P2P') && tunnel.password && <VisitCommand tunnel={tunnel} password={tunnel.password} />}
      {tunnel?.noStore === true
        ? <Banner tone='accent' role='note' title={texts.readOnly} />
        : readOnly
        ? null
        : (
          <FormFrame
            form={form}
            labels={labels}
            action={tunnel === undefined ? texts.saveNew : t.actions.save}
            more={<Link className='btn' href={tunnel ? `/clients/${tunnel.client.id}/tunnels` : '/tunnels'}>{t.actions.discard}</Link>}
          >
            <CardsField form={form} name='mode' label={labels.mode} options={modes.map((each) => [each, t.tunnels.types[each], t.tunnels.typeTexts[each]])} />
            <section className='card card-body' aria-labelledby='h-where'>
              <h2 id='h-where'>{texts.fromTo}</h2>
              <div className='grid-2'>
                {!isLogin && <ClientField form={form} name='clientId' label={labels.clientId} hint={hints.client} />}
                <TextField form={form} name='remark' label={labels.remark} hint={hints.remark} isOptional />
                {has('port') && <TextField form={form} name='port' label={labels.port} hint={hints.port} isNumber isOptional />}
                {has('serverIp') && <TextField form={form} name='serverIp' label={labels.serverIp} hint={hints.serverIp} isOptional isMono />}
                {has('password') && <TextField form={form} name='password' label={labels.password} hint={hints.password} isMono isOptional={mode === 'P2P'} />}
                {has('localPath') && <TextField form={form} name='localPath' label={labels.localPath} hint={hints.localPath} isMono />}
                {has('stripPrefix') && <TextField form={form} name='stripPrefix' label={labels.stripPrefix} hint={hints.stripPrefix} isMono isOptional />}
              </div>
              {has('targets') && <LinesField form={form} name='targets' label={labels.targets} hint={hints.targets} />}
              {has('targets') && mode !== 'UDP' && <TargetCheck clientId={form.values.clientId} targets={form.values.targets} />}
              {has('proxyProtocol') && (
                <SelectField
                  form={form}
                  name='proxyProtocol'
                  label={labels.proxyProtocol}
                  hint={hints.proxyProtocol}
                  options={protocols.map((each) => [each, texts.proxyProtocols[each]])}
                />
              )}
              {has('targets') && (server.allowLocalProxy || tunnel?.localProxy) && (
                <CheckField form={form} name='localProxy' label={labels.localProxy} hint={hints.localProxy} />
              )}
            </section>
            {has('targets') && targets === '' && <p className='sentence'>{t.targets.missing}</p>}
            {has('port') && targets !== '' && (
              <p className='sentence'>
                {texts.sentence(form.values.port === '' ? texts.freePort : texts.portOf(form.values.port), targets)}
              </p>
            )}
          </FormFrame>
        )}
    </>
  );
}

/** What can be done with the tunnel. @param onChange called after it was started or stopped */
function TunnelMenu({ tunnel, onChange }: { readonly tunnel: Tunnel; readonly onChange: () => void }) {
  const { t } = useLanguage();
  const [, navigate] = useLocation();
  const { startOrStop, resetTraffic, remove } = useTunnelActions().entries(
    tunnel,
    onChange,
    (isDone) => isDone && navigate(`/clients/${tunnel.client.id}/tunnels`),
  );
  const label = t.actions.more(tunnel.remark || t.tunnels.nameless(tunnel.id));
  return <Menu trigger={<Icon name='more' />} label={label} className='btn btn-icon' entries={[startOrStop, resetTraffic, remove]} />;
}

/** The command of a visitor of a secret or p2p tunnel. */
function VisitCommand({ tunnel, password }: { readonly tunnel: Tunnel; readonly password: string }) {
  const { t } = useLanguage();
  const { server } = useViewer();
  const type = tunnel.mode === 'P2P' ? 'p2p' : 'secret';
  const text = `ADIT_VISIT_PASSWORD=${shellWord(password)} node adit-agent.mjs visit --server ${
    shellWord(bridgeAddress(server))
  } --tls-fingerprint ${server.bridgeTlsFingerprint} --type ${type} --listen 2222`;
  return (
    <div className='stack-s'>
      <Command title={t.tunnels.form.visitCommand} text={text} secret={shellWord(password)} isPassword />
      <AgentFile text={t.tunnels.form.visitFile} />
    </div>
  );
}

function valuesOf(tunnel: Tunnel | undefined, asked: { readonly clientId: string; readonly mode: TunnelMode | undefined }) {
  return {
    clientId: tunnel?.client.id ?? asked.clientId,
    mode: tunnel?.mode ?? asked.mode ?? 'TCP',
    remark: tunnel?.remark ?? '',
    port: String(tunnel?.port ?? ''),
    serverIp: tunnel?.serverIp ?? '',
    targets: tunnel?.targets.join('\n') ?? '',
    localProxy: checked(tunnel?.localProxy ?? false),
    localPath: tunnel?.localPath ?? '',
    stripPrefix: tunnel?.stripPrefix ?? '',
    proxyProtocol: tunnel?.proxyProtocol ?? 'OFF',
    password: tunnel?.password ?? '',
  };
}

/** Only the fields that the type uses are sent. */
function inputOf(values: Readonly<Record<keyof ReturnType<typeof valuesOf>, string>>): CreateTunnelInput {
  const mode = modes.find((name) => name === values.mode) ?? 'TCP';
  const has = (name: string): boolean => uses[mode].has(name);
  return {
    clientId: values.clientId,
    mode,
    remark: textOrNull(values.remark),
    ...(has('port') && { port: numberOrNull(values.port), serverIp: textOrNull(values.serverIp) }),
    ...(has('targets') && { targets: linesOf(values.targets), localProxy: isChecked(values.localProxy) }),
    ...(has('localPath') && { localPath: textOrNull(values.localPath), stripPrefix: textOrNull(values.stripPrefix) }),
    ...(has('proxyProtocol') && { proxyProtocol: protocols.find((each) => each === values.proxyProtocol) ?? 'OFF' }),
    ...(has('password') && { password: textOrNull(values.password) }),
  };
}
