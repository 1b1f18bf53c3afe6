import { effectiveExpiry, expiresAfterOwner, isPast } from '../../rules/expiry.ts';
import { hasRoom } from '../../rules/quota.ts';
import { newVerifyKey } from '../../rules/vkey.ts';
import type { Client as ClientRow, User } from '../../store/generated/sqlite/client.ts';
import type { Transaction } from '../../store/transaction.ts';
import { usableClient } from '../access.ts';
import { builder } from '../builder.ts';
import type { Context } from '../context.ts';
import { AditError } from '../errors.ts';
import { checkMovedRoutes } from '../host/route-check.ts';
import { Problems } from '../problems.ts';
import { resetClientTraffic } from '../traffic/reset.ts';
import { uniqueOr } from '../unique.ts';
import { clientColumns, CreateClientInput, UpdateClientInput, clientValues, type ClientValues, ownSettings } from './input.ts';
import { Client } from './type.ts';
import { nextWebLogin, noWebLogin, type WebLogin } from './web-login.ts';
import { idOf } from '../ids.ts';

const id = { required: true, description: "The client's id." } as const;

builder.mutationFields((t) => ({
  createClient: t.field({
    type: Client,
    authScopes: { clientLogin: true },
    description: 'Makes a client. It is enabled.',
    args: { input: t.arg({ type: CreateClientInput, required: true, description: 'What it is to be.' }) },
    resolve: (_root, { input }, context) => createClient(context, clientValues(input)),
  }),
  updateClient: t.field({
    type: Client,
    authScopes: { clientLogin: true },
    description: 'Changes a client.',
    args: { id: t.arg.id(id), input: t.arg({ type: UpdateClientInput, required: true, description: 'What is to change.' }) },
    resolve: (_root, args, context) => updateClient(context, idOf('id', args.id), clientValues(args.input)),
  }),
  setClientEnabled: t.field({
    type: Client,
    authScopes: { user: true },
    description: 'Lets a client work, or refuses its agent and cuts it off. Nothing is deleted.',
    args: { id: t.arg.id(id), enabled: t.arg.boolean({ required: true, description: 'Whether it is to work.' }) },
    resolve: (_root, args, context) => setClientEnabled(context, idOf('id', args.id), args.enabled),
  }),
  resetClientTraffic: t.field({
    type: Client,
    authScopes: { clientLogin: true },
    description: 'Makes the counters of a client begin at 0, and with them what counts against its flow limit: while it has one, this is for administrators. The counters of its tunnels and hosts stay, and so does `traffic`.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, context) => resetClientTraffic(context, idOf('id', args.id)),
  }),
  deleteClient: t.id({
    authScopes: { user: true },
    description: 'Deletes a client with its tunnels and hosts, and cuts its agent off. Answers the id.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, context) => deleteClient(context, idOf('id', args.id)),
  }),
}));

/** /client/add/ (contract 2.2). */
async function createClient(context: Context, given: ClientValues) {
  const { caller } = context;
  if (caller.kind === 'client') throw new AditError('USER_ACCOUNT_REQUIRED');
  const input = caller.kind === 'user' ? { ...ownSettings(given), configAllowed: true, ownerId: caller.userId } : given;
  const problems = new Problems();
  const { vkey = newVerifyKey(), ...columns } = clientColumns(problems, context.caller, input);
  const nextLogin = await nextWebLogin(problems, input);
  const webLogin = problems.check(() => nextLogin(noWebLogin));
  return problems.during(() => context.write(async (tx, changed) => {
    const owner = await problems.later(() => ownerById(tx, input.ownerId ?? null)) ?? null;
    problems.check(() => checkExpiry(columns.expiresAt ?? null, owner));
    problems.check(() => checkClientRoom(owner));
    problems.end();
    const expired = hasExpired(context, columns.expiresAt ?? null, owner);
    const after = await uniqueVkey(() => tx.client.create({ data: { ...columns, ...webLogin, vkey, expired, userId: owner?.id }, include: { user: true } }));
    changed({ resource: 'client', action: 'create', after });
    return after;
  }));
}

/** /client/edit/ (contract 2.2, D11, D23). */
async function updateClient(context: Context, id: number, given: ClientValues) {
  const input = context.caller.kind === 'admin' ? given : ownSettings(given);
  const problems = new Problems();
  const columns = clientColumns(problems, context.caller, input);
  const webLogin = await nextWebLogin(problems, input);
  return problems.during(() => context.write(async (tx, changed) => {
    const before = await usableClient(context, tx, id);
    const owner = input.ownerId === undefined ? before.user : await problems.later(() => ownerById(tx, input.ownerId ?? null)) ?? null;
    const moved = (owner?.id ?? null) !== before.userId;
    // A later edit of something else may not fail for what the owner's expiry has become meanwhile.
    const own = columns.expiresAt === undefined ? before.expiresAt : columns.expiresAt;
    if (columns.expiresAt !== undefined || moved) problems.check(() => checkExpiry(own, owner));
    if (moved) {
      await problems.later(() => checkMovedRoutes(tx, before, owner?.id ?? null), 'ownerId');
      problems.check(() => checkClientRoom(owner));
      problems.check(() => checkTunnelRoom(owner, before));
    }
    const nextLogin = problems.required(problems.check(() => webLogin(before)));
    // The sessions of a login that is another now are over, and with them what they listen to.
    if (isAnother(before, { ...nextLogin, vkey: columns.vkey ?? before.vkey })) await tx.session.deleteMany({ where: { clientId: id } });
    const data = { ...columns, ...nextLogin, expired: hasExpired(context, own, owner), userId: owner?.id ?? null };
    const after = await uniqueVkey(() => tx.client.update({ where: { id }, data, include: { user: true } }));
    changed({ resource: 'client', action: 'update', before, after });
    return after;
  }));
}

/** /client/changestatus/ (contract 2.2). What an administrator or an expiry switched off, only an administrator switches on (contract D12). */
function setClientEnabled(context: Context, id: number, enabled: boolean) {
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
function deleteClient(context: Context, id: number): Promise<number> {
  return context.write(async (tx, changed) => {
    const before = await usableClient(context, tx, id);
    await tx.client.delete({ where: { id } });
    changed({ resource: 'client', action: 'delete', before });
    return id;
  });
}

function uniqueVkey<T>(write: () => Promise<T>): Promise<T> {
  return uniqueOr(new AditError('VKEY_DUPLICATE', { field: 'verifyKey' }), write);
}

async function ownerById(tx: Transaction, ownerId: number | null): Promise<User | null> {
  if (ownerId === null) return null;
  const owner = await tx.user.findUnique({ where: { id: ownerId } });
  if (owner === null) throw new AditError('OWNER_NOT_FOUND', { field: 'ownerId' });
  return owner;
}

function checkClientRoom(owner: User | null): void {
  if (owner !== null && !hasRoom(owner.maxClients, owner.clientCount)) throw new AditError('OWNER_CLIENT_QUOTA', { field: 'ownerId' });
}

/** Whether an owner may have the tunnels and hosts of a client, too. */
function checkTunnelRoom(owner: User | null, { tunnelCount }: ClientRow): void {
  if (owner !== null && !hasRoom(owner.maxTunnels, owner.tunnelCount, tunnelCount)) throw new AditError('USER_TUNNEL_QUOTA', { field: 'ownerId' });
}

function hasExpired(context: Context, own: Date | null, owner: User | null): boolean {
  return isPast(effectiveExpiry(own, owner?.expiresAt), context.now());
}

type Credentials = WebLogin & Pick<ClientRow, 'vkey'>;

function isAnother(before: Credentials, after: Credentials): boolean {
  return before.webUsername !== after.webUsername || before.webPasswordHash !== after.webPasswordHash || before.vkey !== after.vkey;
}

function checkExpiry(own: Date | null, owner: User | null): void {
  if (expiresAfterOwner(own, owner?.expiresAt ?? null)) throw new AditError('CLIENT_EXPIRES_AFTER_OWNER', { field: 'expiresAt' });
}
