import { acmeFault } from '../../rules/acme-name.ts';
import type { Client, Host } from '../../store/generated/sqlite/client.ts';
import type { Transaction } from '../../store/transaction.ts';
import { usableClient, usableHost } from '../access/records.ts';
import type { Context } from '../context.ts';
import { AditError, invalidInput } from '../errors.ts';
import type { Problems } from '../values/problems.ts';
import { type UpdateOptions, checkVersion, versionOf } from '../values/version.ts';
import { columnsOfHost } from './columns.ts';
import { checkSlot, clientWithRoom } from '../client/quota-rules.ts';
import { certificateColumns, hostColumns, type HostValues } from './input.ts';
import { checkNameAllowed, checkPlatform, nextName, type HostName } from './name-rules.ts';
import { checkNamespace, checkRoute, routeSpace } from './route-rules.ts';

/** How a host is written. */
interface HostOptions extends UpdateOptions {
  /** A certificate without a private key is stored, and a key without a certificate, as the legacy API does. */
  readonly unpaired?: boolean | null | undefined;
}

/** /index/addhost/ (contract 2.5, 4.7). Checks in this order: name, client, quotas, other columns. */
export async function createHost(context: Context, problems: Problems, input: HostValues, { noStore = false, unpaired }: HostOptions = {}): Promise<Host> {
  const { scheme = 'all', location = '/', ...columns } = hostColumns(problems, context, input);
  return problems.during(() =>
    context.write(async (tx, changed) => {
      const named = await problems.later(() => nextName(tx, input, undefined));
      const certificate = ownCertificate(problems, context, input, named);
      if (unpaired !== true) problems.check(() => checkPair(certificate));
      await problems.later(() => checkPlatform(named?.domain, scheme));
      const usable = await problems.later(() => clientWithRoom(context, tx, input.clientId ?? 0), 'clientId');
      const namedByAdmin = context.caller.kind === 'admin';
      if (named && usable) {
        await problems.later(async () => {
          await checkNameAllowed(context, tx, named.host);
          if (named.domain === null) await checkNamespace(tx, named.host, namedByAdmin);
          await checkRoute(context, tx, { host: named.host, location, scheme, namedByAdmin }, named, usable);
        }, nameField(named));
      }
      const acme = named && problems.check(() => nextAcme(columns.acme, false, named, scheme));
      const [name, client] = [problems.required(named), problems.required(usable)];
      const after = await tx.host.create({
        data: {
          ...columns,
          ...certificate,
          ...nameColumns(name),
          clientId: client.id,
          scheme,
          location,
          noStore,
          namedByAdmin,
          acme,
          autoHttps: scheme !== 'http' && columns.autoHttps,
        },
      });
      changed({ resource: 'host', action: 'create', after });
      return after;
    })
  );
}

/** /index/edithost/ (contract 2.5, D8, D23). Does not start or stop the host. */
export async function updateHost(
  context: Context,
  problems: Problems,
  id: number,
  input: HostValues,
  { noStore = false, expected, unpaired }: HostOptions = {},
): Promise<Host> {
  const columns = hostColumns(problems, context, input);
  return problems.during(() =>
    context.write(async (tx, changed) => {
      const { client: from, ...before } = await usableHost(context, tx, id);
      if (before.noStore && !noStore) throw new AditError('AGENTS_OWN', { resource: 'host' });
      checkVersion('host', versionOf(context, columnsOfHost, before), expected);
      const wanted = await problems.later(() => nextName(tx, input, before));
      const certificate = ownCertificate(problems, context, input, wanted);
      if (unpaired !== true) problems.check(() => checkPair(certificate, before));
      const scheme = columns.scheme ?? before.scheme;
      // An edit of another field must not fail because the certificate has changed since.
      if (wanted && (wanted.host !== before.host || scheme !== before.scheme)) await problems.later(() => checkPlatform(wanted.domain, scheme));
      const usable = await problems.later(() => nextClient(context, tx, from, input.clientId), 'clientId');
      if (!wanted || !usable) throw problems.error();
      const [name, client] = [wanted, usable];
      const named = name.host !== before.host || name.domain?.id !== (before.platformDomainId ?? undefined);
      const namedByAdmin = named ? context.caller.kind === 'admin' : before.namedByAdmin;
      const next = { ...routeSpace({ host: name.host, location: columns.location ?? before.location, scheme }), namedByAdmin };
      const orders = columns.acme === true && !before.acme;
      const route = routeSpace(before);
      await problems.later(async () => {
        if (named || orders || client.id !== from.id) await checkNameAllowed(context, tx, name.host);
        if (named && name.domain === null) await checkNamespace(tx, name.host, namedByAdmin);
        if (named || next.location !== route.location || next.scheme !== route.scheme || client.id !== from.id) {
          await checkRoute(context, tx, next, name, client, id);
        }
      }, nameField(name));
      const acme = problems.check(() => nextAcme(columns.acme, before.acme, name, next.scheme));
      problems.end();
      const after = await tx.host.update({
        where: { id },
        data: {
          ...columns,
          ...nextCertificate(before, certificate),
          ...nameColumns(name),
          clientId: client.id,
          namedByAdmin,
          acme,
          autoHttps: next.scheme !== 'http' && (columns.autoHttps ?? before.autoHttps),
        },
      });
      changed({ resource: 'host', action: 'update', before, after });
      return after;
    })
  );
}

/** /index/hoststart/ and /index/hoststop/ (contract 2.5); repeating it succeeds (contract D6). */
export function setHostEnabled(context: Context, id: number, enabled: boolean): Promise<Host> {
  return context.write(async (tx, changed) => {
    const { client: _, ...before } = await usableHost(context, tx, id);
    const after = await tx.host.update({ where: { id }, data: { enabled } });
    changed({ resource: 'host', action: 'update', before, after });
    return after;
  });
}

/** Attempts the failed ACME order of a host's certificate now. Changes no column, but has an entry in the audit log. @throws {AditError} ACME_NOT_FAILED, ACME_RETRY_LATER */
export async function retryAcme(context: Context, id: number): Promise<Host> {
  const { client: _, ...host } = await usableHost(context, context.store.db, id);
  const retry = await context.engine.retryAcme(id);
  switch (retry.kind) {
    case 'started':
      return context.write(async (_tx, changed) => {
        changed({ resource: 'acmeOrder', action: 'create', after: { id, host: host.host } });
        return host;
      });
    case 'notFailed':
      throw new AditError('ACME_NOT_FAILED');
    case 'later':
      throw new AditError('ACME_RETRY_LATER', { at: new Date(retry.at).toISOString() });
  }
}

/** /index/delhost/ (contract 2.5, D5). */
export function deleteHost(context: Context, id: number): Promise<number> {
  return context.write(async (tx, changed) => {
    const { client: _, ...before } = await usableHost(context, tx, id);
    await tx.host.delete({ where: { id } });
    changed({ resource: 'host', action: 'delete', before });
    return id;
  });
}

/** The input field that determines a name. */
function nameField({ domain }: HostName): string {
  return domain === null ? 'host' : 'platformPrefix';
}

async function nextClient(context: Context, tx: Transaction, from: Client, clientId: number | null | undefined): Promise<Client> {
  if (!clientId || clientId === from.id) return from;
  const to = await usableClient(context, tx, clientId);
  checkSlot(to, from.userId);
  return to;
}

/** The certificate of a custom host; in platform mode the input is ignored (contract 2.5). */
function ownCertificate(problems: Problems, context: Context, input: HostValues, name: HostName | undefined): ReturnType<typeof certificateColumns> {
  return name?.domain === null ? certificateColumns(problems, context, input) : { certFilePath: undefined, keyFilePath: undefined };
}

/**
 * Refuses half of a pair: no visitor would get the certificate.
 * @param before the host that keeps its part of what is not given; a certificate that is not changed is not checked @throws {AditError} CERTIFICATE_UNPAIRED
 */
function checkPair(given: ReturnType<typeof certificateColumns>, before?: Host): void {
  if (given.certFilePath === undefined && given.keyFilePath === undefined) return;
  const next = before === undefined ? given : nextCertificate(before, given);
  const { certFilePath = before?.certFilePath ?? '', keyFilePath = before?.keyFilePath ?? '' } = next;
  if (certFilePath !== '' && keyFilePath === '') throw new AditError('CERTIFICATE_UNPAIRED', { field: 'privateKey' });
  if (certFilePath === '' && keyFilePath !== '') throw new AditError('CERTIFICATE_UNPAIRED', { field: 'certificate' });
}

/** In platform mode, the host uses the domain's certificate. */
function nameColumns({ host, domain, platformPrefix }: HostName) {
  return {
    host,
    platformPrefix,
    platformDomainId: domain?.id ?? null,
    ...(domain !== null && { certFilePath: domain.certFilePath, keyFilePath: domain.keyFilePath }),
  };
}

/** Whether the host uses ACME: as requested, or else as before if its name still allows it. @throws {AditError} INVALID_INPUT */
function nextAcme(asked: boolean | undefined, before: boolean, { host, domain }: HostName, scheme: string): boolean {
  const fault = domain === null ? acmeFault(host) : 'not for a platform host, which has the certificate of its domain';
  if (asked === true && fault !== '') throw invalidInput('acme', fault);
  return scheme !== 'http' && fault === '' && (asked ?? before);
}

/** A host that is removed from its platform domain does not keep the domain's certificate. */
function nextCertificate(before: Host, certificate: ReturnType<typeof certificateColumns>): ReturnType<typeof certificateColumns> {
  if (before.platformDomainId === null) return certificate;
  return { certFilePath: certificate.certFilePath ?? '', keyFilePath: certificate.keyFilePath ?? '' };
}
