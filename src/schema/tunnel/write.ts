import { transportOf } from '../../rules/tunnel-mode.ts';
import type { Tunnel, Prisma } from '../../store/generated/sqlite/client.ts';
import type { Transaction } from '../../store/transaction.ts';
import { usableClient, usableTunnel } from '../access/records.ts';
import type { Context } from '../context.ts';
import { AditError } from '../errors.ts';
import { Problems } from '../values/problems.ts';
import { checkSlot, clientWithRoom } from '../client/quota-rules.ts';
import { columnsHaving } from '../values/columns.ts';
import { checkVersion, type UpdateOptions, versionOf } from '../values/version.ts';
import { columnsOfTunnel } from './columns.ts';
import { accountsOf, tunnelColumns, type TunnelValues } from './input.ts';
import { sameListener, writeWithPort, checkMode, keyOf, withUniqueKey } from './rules.ts';

/** A tunnel to be created. */
interface NewTunnel {
  readonly columns: Omit<Prisma.TunnelUncheckedCreateInput, 'id' | 'port'> & Pick<Tunnel, 'mode' | 'serverIp' | 'password'>;
  /** 0 = assign a free port. */
  readonly port: number;
  /** A tunnel whose password is not a guess: the copied tunnel, or this tunnel with a generated password. */
  readonly known?: Pick<Tunnel, 'mode' | 'password'>;
}

/** /index/add/ (contract 2.4). Checks in the order of contract 2.4: mode, port, client, quotas, key. @param noStore an agent declares it */
export async function createTunnel(context: Context, problems: Problems, input: TunnelValues, noStore = false): Promise<Tunnel> {
  const { mode, clientId, port } = input;
  return problems.during(async () => {
    problems.check(() => checkMode(context, mode ?? ''), 'mode');
    const { serverIp = '', password: given = '', ...columns } = tunnelColumns(problems, input, context.settings);
    const wanted = { mode: mode ?? '', password: given };
    const password = problems.check(() => keyOf(wanted)) ?? '';
    const accounts = problems.check(() => accountsOf(input.accounts));
    const made = {
      columns: { ...columns, accounts, mode: wanted.mode, serverIp, password, clientId: clientId ?? 0, noStore },
      port: port ?? 0,
      known: password === given ? undefined : { mode: wanted.mode, password },
    };
    return addTunnel(context, problems, async () => made);
  });
}

/** /index/copy/ (contract 2.4): assigns another port; all other settings are those of the source (contract 2.4, D21). */
export function copyTunnel(context: Context, id: number): Promise<Tunnel> {
  const problems = new Problems(null);
  return problems.during(() =>
    addTunnel(context, problems, async (tx) => {
      const source = await usableTunnel(context, tx, id);
      checkMode(context, source.mode);
      return { columns: columnsHaving(source, columnsOfTunnel, 'copied'), port: 0, known: source };
    })
  );
}

/** /index/edit/ (contract 2.4, D7 to D10, D23). */
export async function updateTunnel(
  context: Context,
  problems: Problems,
  id: number,
  input: TunnelValues,
  { noStore = false, expected }: UpdateOptions = {},
): Promise<Tunnel> {
  const columns = tunnelColumns(problems, input, context.settings);
  return problems.during(() =>
    writeWithPort(context, async (tx, changed, leasePort) => {
      const { client: from, ...before } = await usableTunnel(context, tx, id);
      if (before.noStore && !noStore) throw new AditError('AGENTS_OWN', { resource: 'tunnel' });
      checkVersion('tunnel', versionOf(context, columnsOfTunnel, before), expected);
      const wanted = nextTunnel(before, input, columns);
      const next = { ...wanted, password: problems.check(() => keyOf(wanted)) ?? '' };
      const accounts = problems.check(() => accountsOf(input.accounts, before.accounts));
      if (next.mode !== before.mode) problems.check(() => checkMode(context, next.mode), 'mode');
      const to = next.clientId === before.clientId ? undefined : await problems.later(() => usableClient(context, tx, next.clientId), 'clientId');
      const lease = input.port === 0 || !sameListener(before, next) ? await problems.later(() => leasePort({ ...next, replaces: id }), 'port') : undefined;
      if (to !== undefined) problems.check(() => checkSlot(to, from.userId), 'clientId');
      problems.end();
      const data = { ...columns, ...next, accounts, port: lease?.port ?? next.port };
      const after = problems.required(
        await problems.later(() => withUniqueKey(context, to ?? from, next, before, () => tx.tunnel.update({ where: { id }, data })), 'password'),
      );
      changed({ resource: 'tunnel', action: 'update', before, after, lease });
      return after;
    }, { alone: true })
  );
}

/** /index/start/ (contract 2.4). A started tunnel that couldn't open its port tries again (contract D6). */
export function startTunnel(context: Context, id: number): Promise<Tunnel> {
  return writeWithPort(context, async (tx, changed, leasePort) => {
    const { client: _, ...before } = await usableTunnel(context, tx, id);
    const [state] = before.enabled ? await context.engine.tunnelStates([id]) : [];
    if (state?.running === true) return before;
    checkMode(context, before.mode);
    const lease = await leasePort({ ...before, replaces: id });
    const after = await tx.tunnel.update({ where: { id }, data: { enabled: true, port: lease?.port ?? 0 } });
    changed({ resource: 'tunnel', action: 'update', before, after, lease });
    return after;
  }, { alone: true, starts: true });
}

/** /index/stop/ (contract 2.4, D6): stopping a stopped tunnel succeeds. */
export function stopTunnel(context: Context, id: number): Promise<Tunnel> {
  return context.write(async (tx, changed) => {
    const { client: _, ...before } = await usableTunnel(context, tx, id);
    const after = await tx.tunnel.update({ where: { id }, data: { enabled: false } });
    changed({ resource: 'tunnel', action: 'update', before, after });
    return after;
  });
}

/** /index/del/ (contract 2.4, D5). */
export function deleteTunnel(context: Context, id: number): Promise<number> {
  return context.write(async (tx, changed) => {
    const { client: _, ...before } = await usableTunnel(context, tx, id);
    await tx.tunnel.delete({ where: { id } });
    changed({ resource: 'tunnel', action: 'delete', before });
    return id;
  });
}

function addTunnel(context: Context, problems: Problems, plan: (tx: Transaction) => Promise<NewTunnel>): Promise<Tunnel> {
  return writeWithPort(context, async (tx, changed, leasePort) => {
    const { columns, port, known } = await plan(tx);
    const lease = await problems.later(() => leasePort({ ...columns, port }), 'port');
    const client = problems.required(await problems.later(() => clientWithRoom(context, tx, columns.clientId), 'clientId'));
    const after = problems.required(
      await problems.later(
        () => withUniqueKey(context, client, columns, known, () => tx.tunnel.create({ data: { ...columns, port: lease?.port ?? 0 } })),
        'password',
      ),
    );
    changed({ resource: 'tunnel', action: 'create', after, lease });
    return after;
  });
}

/** The columns of the changed tunnel that the rules use; port 0 = assign a free one. */
function nextTunnel(before: Tunnel, input: TunnelValues, columns: ReturnType<typeof tunnelColumns>) {
  const mode = input.mode ?? before.mode;
  return {
    clientId: input.clientId || before.clientId,
    mode,
    port: transportOf(mode) === undefined ? 0 : input.port ?? before.port,
    serverIp: columns.serverIp ?? before.serverIp,
    password: columns.password ?? before.password,
  };
}
