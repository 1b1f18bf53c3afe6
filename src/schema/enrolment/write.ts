import { installCommand, trustedApi } from '../../rules/enrolment.ts';
import { agentCommand } from '../../rules/public-address.ts';
import { formatHostPort } from '../../rules/host-port.ts';
import { isPast } from '../../rules/expiry.ts';
import { mayUseClient } from '../../rules/ownership.ts';
import type { Enrolment } from '../../store/generated/sqlite/client.ts';
import type { Transaction } from '../../store/transaction.ts';
import { mayServe } from '../access/active.ts';
import { usableClient } from '../access/records.ts';
import { newSecret, secretDigest } from '../access/secret.ts';
import { seesSecrets } from '../access/secret-field.ts';
import type { Context } from '../context.ts';
import { AditError } from '../errors.ts';
import type { MadeChange } from '../writes/changes.ts';

/** How long a code can be used, in seconds. */
export const lifetime = { least: 60, normal: 3600, most: 86_400 } as const;
/** Limits of a client's codes: those that can be used, and those that are kept, with used and expired ones. */
export const most = { open: 20, kept: 100 } as const;
/** Prefix of all codes, by which scanners for leaked secrets recognize them. */
const prefix = 'adit-enrol_';

/** A new enrolment. The code can't be read later. */
export interface CreatedEnrolment {
  readonly code: string;
  readonly command: string | null;
  readonly manualSteps: string | null;
  readonly enrolment: Enrolment;
}

/** What a machine needs for its agent. */
export interface EnrolledAgent {
  readonly clientId: number;
  readonly vkey: string;
  /** The TLS port of the bridge. */
  readonly server: string;
  /** SHA-256 of the bridge's certificate. */
  readonly fingerprint: string;
}

/** Creates a code for a client. @throws {AditError} FORBIDDEN for tokens without `secrets` and for other users' clients */
export async function createEnrolment(context: Context, clientId: number, seconds: number): Promise<CreatedEnrolment> {
  if (!seesSecrets(context.caller)) throw new AditError('FORBIDDEN');
  const code = `${prefix}${newSecret()}`;
  const now = context.now();
  const { enrolment, vkey } = await context.write(async (tx, changed) => {
    const client = await usableClient(context, tx, clientId);
    if (await tx.enrolment.count({ where: { clientId, usedAt: null, expiresAt: { gt: new Date(now) } } }) >= most.open) {
      throw new AditError('ENROLMENT_LIMIT', { most: most.open });
    }
    const former = await tx.enrolment.findMany({ where: { clientId }, orderBy: { id: 'desc' }, skip: most.kept - 1, select: { id: true } });
    if (former.length > 0) await tx.enrolment.deleteMany({ where: { id: { in: former.map(({ id }) => id) } } });
    const enrolment = await tx.enrolment.create({ data: { clientId, hash: secretDigest(code), expiresAt: new Date(now + seconds * 1000) } });
    changed({ resource: 'enrolment', action: 'create', after: enrolment });
    return { enrolment, vkey: client.vkey };
  });
  return { code, enrolment, ...await instructions(context, code, vkey) };
}

/** The command, or the steps without it. */
async function instructions(context: Context, code: string, vkey: string): Promise<Pick<CreatedEnrolment, 'command' | 'manualSteps'>> {
  const name = await context.serverName();
  const api = trustedApi(context.settings.api, name);
  if (api !== undefined && name !== '') return { command: installCommand(api, code), manualSteps: null };
  const why = name === ''
    ? "The server's public name is not known: set ADIT_PUBLIC_URL, or the server URL in the global settings."
    : 'This API is not reached over HTTPS, so somebody on the way could replace the script and would control the machine. Set ADIT_HTTP_TLS, or ADIT_PUBLIC_URL if a proxy serves HTTPS.';
  const command = agentCommand(vkey, name === '' ? 'SERVER' : name, context.settings.bridge);
  return {
    command: null,
    manualSteps:
      `${why}\nUntil then, copy adit-agent.mjs from the server (dist/agent in its program's directory) to the machine, for example with scp, and run there:\n${command}`,
  };
}

/** Deletes a code. @throws {AditError} NOT_FOUND, also for a code of another user's client */
export function revokeEnrolment(context: Context, id: number): Promise<number> {
  return context.write(async (tx, changed) => {
    const found = await tx.enrolment.findUnique({ where: { id }, include: { client: true } });
    if (found === null || !mayUseClient(context.caller, found.client)) throw new AditError('NOT_FOUND', { resource: 'enrolment' });
    const { client: _, ...before } = found;
    await tx.enrolment.delete({ where: { id } });
    changed({ resource: 'enrolment', action: 'delete', before });
    return id;
  });
}

/** Ends the codes of a client: those that were not used are deleted, and the machines that used others can't repeat that any more. */
export async function endEnrolmentsOf(tx: Transaction, clientId: number, now: Date, changed: (change: MadeChange) => void): Promise<void> {
  const open = await tx.enrolment.findMany({ where: { clientId, usedAt: null }, orderBy: { id: 'asc' } });
  if (open.length > 0) await tx.enrolment.deleteMany({ where: { clientId, usedAt: null } });
  for (const before of open) changed({ resource: 'enrolment', action: 'delete', before });
  for (const before of await tx.enrolment.findMany({ where: { clientId, expiresAt: { gt: now } }, orderBy: { id: 'asc' } })) {
    changed({ resource: 'enrolment', action: 'update', before, after: await tx.enrolment.update({ where: { id: before.id }, data: { expiresAt: now } }) });
  }
}

/**
 * Uses a code. The machine that used it may repeat this until the code expires, because it may not have got the response.
 * @param machine a secret of the machine
 * @throws {AditError} ENROLMENT_REFUSED, without saying why
 */
export async function useEnrolment(context: Context, code: string, machine: string): Promise<EnrolledAgent> {
  const address = context.caller.address ?? '';
  // The name is the address: others who guess must not lock this machine out.
  const attempt = context.attempts.begin('enrolment', address, address, context.now());
  if (attempt.wait > 0) throw new AditError('ENROLMENT_REFUSED');
  const name = await context.serverName();
  const used = await context.write(async (tx, changed) => {
    const now = context.now();
    const row = await tx.enrolment.findUnique({ where: { hash: secretDigest(code) }, include: { client: { include: { user: true } } } });
    if (row === null || isPast(row.expiresAt, now) || !mayServe(row.client, now)) return undefined;
    const { client, ...before } = row;
    const digest = secretDigest(machine);
    if (before.usedAt !== null) return before.machine === digest ? client : undefined;
    const after = await tx.enrolment.update({ where: { id: before.id }, data: { usedAt: new Date(now), usedFrom: address, machine: digest } });
    changed({ resource: 'enrolment', action: 'update', before, after });
    return client;
  });
  if (used === undefined) {
    attempt.failed();
    throw new AditError('ENROLMENT_REFUSED');
  }
  attempt.succeeded();
  const { bridge } = context.settings;
  return { clientId: used.id, vkey: used.vkey, server: formatHostPort({ host: name, port: bridge.tls.port }), fingerprint: bridge.tls.fingerprint };
}
