import { newVerifyKey } from '../../rules/vkey.ts';
import { usableClient } from '../access/records.ts';
import type { Context } from '../context.ts';
import { AditError } from '../errors.ts';
import { endEnrolmentsOf } from '../enrolment/write.ts';
import { checkMovedRoutes } from '../host/route-rules.ts';
import type { Problems } from '../values/problems.ts';
import { type Basis, checkVersion, versionOf } from '../values/version.ts';
import { columnsOfClient } from './columns.ts';
import { clientColumns, type ClientValues } from './input.ts';
import { checkClientRoom, checkTunnelRoom } from './quota-rules.ts';
import { nextWebLogin, noWebLogin, checkExpiry, hasExpired, hasOtherCredentials, ownerById, ownSettings, uniqueVkey } from './rules.ts';

/** /client/add/ (contract 2.2). */
export async function createClient(context: Context, problems: Problems, given: ClientValues) {
  const { caller } = context;
  if (caller.kind === 'client') throw new AditError('USER_ACCOUNT_REQUIRED');
  const input = caller.kind === 'user' ? { ...ownSettings(given), configAllowed: true, ownerId: caller.userId } : given;
  const { vkey = newVerifyKey(), ...columns } = clientColumns(problems, context.caller, input);
  const nextLogin = await nextWebLogin(problems, input);
  const webLogin = problems.check(() => nextLogin(noWebLogin));
  return problems.during(() =>
    context.write(async (tx, changed) => {
      const owner = await problems.later(() => ownerById(tx, input.ownerId ?? null)) ?? null;
      problems.check(() => checkExpiry(columns.expiresAt ?? null, owner));
      problems.check(() => checkClientRoom(owner));
      problems.end();
      const expired = hasExpired(context, columns.expiresAt ?? null, owner);
      const after = await uniqueVkey(() => tx.client.create({ data: { ...columns, ...webLogin, vkey, expired, userId: owner?.id }, include: { user: true } }));
      changed({ resource: 'client', action: 'create', after });
      return after;
    })
  );
}

/** /client/edit/ (contract 2.2, D11, D23). */
export async function updateClient(context: Context, problems: Problems, id: number, given: ClientValues, { expected }: Basis = {}) {
  const input = context.caller.kind === 'admin' ? given : ownSettings(given);
  const columns = clientColumns(problems, context.caller, input);
  const webLogin = await nextWebLogin(problems, input);
  return problems.during(() =>
    context.write(async (tx, changed) => {
      const before = await usableClient(context, tx, id);
      checkVersion('client', versionOf(context, columnsOfClient, before), expected);
      const owner = input.ownerId === undefined ? before.user : await problems.later(() => ownerById(tx, input.ownerId ?? null)) ?? null;
      const moved = (owner?.id ?? null) !== before.userId;
      // An edit of another field must not fail because the owner's expiry has changed since.
      const own = columns.expiresAt === undefined ? before.expiresAt : columns.expiresAt;
      if (columns.expiresAt !== undefined || moved) problems.check(() => checkExpiry(own, owner));
      if (moved) {
        await problems.later(() => checkMovedRoutes(tx, before, owner?.id ?? null), 'ownerId');
        problems.check(() => checkClientRoom(owner));
        problems.check(() => checkTunnelRoom(owner, before));
      }
      const nextLogin = problems.required(problems.check(() => webLogin(before)));
      // Sessions with outdated credentials end, and with them their subscriptions.
      if (hasOtherCredentials(before, { ...nextLogin, vkey: columns.vkey ?? before.vkey })) await tx.session.deleteMany({ where: { clientId: id } });
      // Neither a code that somebody has seen nor a machine that has used one must get the new key, or the new owner's.
      if (moved || (columns.vkey ?? before.vkey) !== before.vkey) await endEnrolmentsOf(tx, id, new Date(context.now()), changed);
      const data = { ...columns, ...nextLogin, expired: hasExpired(context, own, owner), userId: owner?.id ?? null };
      const after = await uniqueVkey(() => tx.client.update({ where: { id }, data, include: { user: true } }));
      changed({ resource: 'client', action: 'update', before, after });
      return after;
    })
  );
}

/** /client/changestatus/ (contract 2.2). A client that an administrator or an expiry disabled can only be enabled by an administrator (contract D12). */
export function setClientEnabled(context: Context, id: number, enabled: boolean) {
  return context.write(async (tx, changed) => {
    const before = await usableClient(context, tx, id);
    const byAdmin = context.caller.kind === 'admin';
    if (enabled && !byAdmin && (before.disabledByAdmin || hasExpired(context, before.expiresAt, before.user))) throw new AditError('FORBIDDEN');
    const data = { enabled, disabledByAdmin: !enabled && (byAdmin || before.disabledByAdmin) };
    const after = await tx.client.update({ where: { id }, data, include: { user: true } });
    changed({ resource: 'client', action: 'update', before, after });
    return after;
  });
}

/** /client/del/ (contract 2.2, 4.3, D5). */
export function deleteClient(context: Context, id: number): Promise<number> {
  return context.write(async (tx, changed) => {
    const before = await usableClient(context, tx, id);
    await tx.client.delete({ where: { id } });
    changed({ resource: 'client', action: 'delete', before });
    return id;
  });
}
