import { OwnNames } from '../../rules/own-names.ts';
import type { Client, User } from '../../store/generated/sqlite/client.ts';
import { invalidInput } from '../errors.ts';
import { platformEntries } from '../platform-domain/input.ts';
import { ipListOf, textOf } from '../values/input.ts';
import { DomainConflicts, HostConflicts, TunnelConflicts, uniqueField } from './conflicts.ts';
import { digestOf, passwordChanged } from './digest.ts';
import { ImportPlan } from './plan.ts';
import type { Imported, ImportSet } from './records.ts';
import { clientRow, hostRow, type RowParts, tunnelRow, userRow } from './rows.ts';
import { earlierKey, type StoredState } from './stored-state.ts';

/** Plans an import: checks all records with the rules of the API, and compares them with what is stored. @param pause called regularly */
export async function makePlan(set: ImportSet, stored: StoredState, parts: RowParts, pause: () => Promise<void>): Promise<ImportPlan> {
  const plan = new ImportPlan(set, stored, parts, pause);
  await planUsers(plan);
  await planDomains(plan);
  await planClients(plan);
  await planTunnels(plan);
  await planHosts(plan);
  if (set.globalSettings !== undefined) planGlobal(plan, set.globalSettings);
  plan.findMissing();
  return plan;
}

async function planUsers(plan: ImportPlan): Promise<void> {
  const { users } = plan.stored;
  const candidates = await plan.candidates(
    await plan.classified(plan.set.users, (user) => users.get(user.id), (user, { passwordHash }) => passwordChanged(user.password, passwordHash)),
    (problems, user) => userRow(problems, user, plan.parts),
  );
  const tokens = uniqueField('hash', 'tokenHash', 'token');
  for (const { record: user, row, state } of await plan.settled(candidates, users, () => uniqueField('username', 'username', 'name'), (id) => `user ${id}`)) {
    if (user.tokenHash !== '' && !plan.stored.tokenHashes.has(user.tokenHash)) {
      const conflict = tokens.add({ hash: user.tokenHash }, user.source);
      if (conflict === undefined) plan.tokens.push({ userId: user.id, hash: user.tokenHash });
      else plan.problem(user, conflict.field, conflict.text);
    }
    const before = users.get(user.id);
    plan.write(plan.users, user, row, state, before !== undefined && !passwordChanged(user.password, before.passwordHash));
  }
}

async function planDomains(plan: ImportPlan): Promise<void> {
  const { domains } = plan.stored;
  const candidates = await plan.candidates(
    await plan.classified(plan.set.platformDomains, (domain) => domains.get(domain.id)),
    (problems, { id, wildcard, certificatePath, privateKeyPath }) =>
      platformEntries(problems, [{ id, wildcard, certificatePath: certificatePath || null, privateKeyPath: privateKeyPath || null }], [])?.[0],
  );
  for (const { record, row, state } of await plan.settled(candidates, domains, () => new DomainConflicts(), (id) => `platform domain ${id}`)) {
    plan.write(plan.domains, record, row, state, false);
  }
}

async function planClients(plan: ImportPlan): Promise<void> {
  const { clients, users } = plan.stored;
  const owners = new Map<number, Pick<User, 'id' | 'expiresAt'>>([...users, ...plan.users.map(({ row }) => [row.id, row] as const)]);
  const isOrphan = ({ ownerId }: Imported<'client'>): boolean => ownerId !== 0 && !owners.has(ownerId);
  const lost = plan.lost('user');
  const candidates = await plan.candidates(
    await plan.classified(
      plan.set.clients,
      (client) => clients.get(client.id),
      (client, { webPasswordHash }) => passwordChanged(client.webPassword, webPasswordHash),
    ),
    (problems, client) => {
      if (lost.has(client.ownerId)) throw invalidInput('ownerId', `user ${client.ownerId} cannot be imported`);
      const row = clientRow(problems, client, owners.get(client.ownerId) ?? null, plan.parts);
      const vkey = client.verifyKey === '' ? clients.get(client.id)?.vkey : undefined;
      return { ...row, ...(vkey !== undefined && { vkey }), ...(isOrphan(client) && { enabled: false, disabledByAdmin: true }) };
    },
  );
  for (const { record: client, row, state } of await plan.settled(candidates, clients, () => uniqueField('vkey', 'verifyKey', 'key'), (id) => `client ${id}`)) {
    if (isOrphan(client)) {
      plan.note(client, `its user ${client.ownerId} does not exist: imported without an owner and disabled, as when a user is deleted`);
    }
    if (client.verifyKey === '' && state === 'added') plan.note(client, 'has no key: a new one is generated');
    const before = clients.get(client.id);
    plan.write(plan.clients, client, row, state, before !== undefined && !passwordChanged(client.webPassword, before.webPasswordHash));
  }
}

async function planTunnels(plan: ImportPlan): Promise<void> {
  const { tunnels } = plan.stored;
  const clients = plan.clientIds();
  const candidates = await plan.candidates(await plan.classified(plan.set.tunnels, (tunnel) => tunnels.get(tunnel.id)), (problems, tunnel) => {
    const dangles = plan.dangles(tunnel, clients);
    const row = tunnelRow(problems, tunnel, plan.parts);
    return dangles ? undefined : row;
  });
  for (
    const { record: tunnel, row, state } of await plan.settled(candidates, tunnels, () => new TunnelConflicts(plan.parts.settings), (id) => `tunnel ${id}`)
  ) {
    plan.noteLocalProxy(tunnel, row);
    plan.write(plan.tunnels, tunnel, row, state, false);
  }
}

async function planHosts(plan: ImportPlan): Promise<void> {
  const { settings } = plan.parts;
  const { hosts } = plan.stored;
  const lost = plan.lost('platformDomain');
  const domains = new Map([...plan.stored.domains, ...plan.domains.map(({ row }) => [row.id, row] as const)]);
  const clients = plan.clientIds();
  const holders = new Map<number, Pick<Client, 'userId' | 'webUsername'>>([
    ...plan.stored.clients,
    ...plan.clients.map(({ row }) => [row.id, row] as const),
  ]);
  /** Whether somebody else than the administrator may have chosen the names of a client's hosts. */
  const isTenant = ({ clientId }: Imported<'host'>): boolean => {
    const client = holders.get(clientId);
    return client !== undefined && (client.userId !== null || client.webUsername !== '');
  };
  const ownUrls = [settings.publicUrl, plan.set.globalSettings?.serverUrl ?? plan.stored.globalSettings.serverUrl];
  const ownNames = new OwnNames(ownUrls);
  const candidates = await plan.candidates(await plan.classified(plan.set.hosts, (host) => hosts.get(host.id)), (problems, host) => {
    const dangles = plan.dangles(host, clients);
    const domain = host.platformDomainId === '' ? null : lost.has(host.platformDomainId) ? undefined : domains.get(host.platformDomainId);
    if (domain === undefined) {
      throw invalidInput('platformDomainId', `the platform domain ${host.platformDomainId} does not exist, or cannot be imported`);
    }
    const row = hostRow(problems, host, domain, { ...plan.parts, namedByAdmin: !isTenant(host) });
    const before = hosts.get(host.id);
    const keepsName = before?.namedByAdmin === true && before.host === row.host;
    return dangles ? undefined : { ...row, namedByAdmin: row.namedByAdmin || keepsName };
  });
  const claims = () =>
    new HostConflicts([...domains.values()], ownUrls, (clientId) => {
      const owner = holders.get(clientId)?.userId ?? null;
      return owner === null ? `client ${clientId}` : `user ${owner}`;
    });
  for (const { record: host, row, state } of await plan.settled(candidates, hosts, claims, (id) => `host ${id}`)) {
    plan.noteLocalProxy(host, row);
    if (!row.namedByAdmin && ownNames.has(row.host)) {
      plan.note(
        host,
        "its name is one of the server's own, and its client has a user or a web login: it is not served until an administrator saves its name again",
      );
    }
    plan.write(plan.hosts, host, row, state, false);
  }
}

function planGlobal(plan: ImportPlan, record: Imported<'globalSettings'>): void {
  const digest = digestOf(record);
  const earlier = plan.stored.earlier.get(earlierKey('globalSettings', 1));
  const { blackIpList, serverUrl } = plan.stored.globalSettings;
  const wanted = plan.checked(record, (problems) => {
    const { blocklist = '', url = '' } = problems.columns({
      blocklist: () => ipListOf({ kind: 'admin' }, 'blocklist', record.blocklist),
      url: () => textOf('serverUrl', record.serverUrl.trim()),
    });
    return { blackIpList: blocklist, serverUrl: url };
  });
  if (wanted === undefined) return;
  if (earlier?.digest === digest) {
    plan.counts.globalSettings.unchanged++;
    return;
  }
  if (earlier === undefined && (blackIpList !== '' || serverUrl !== '') && (blackIpList !== wanted.blackIpList || serverUrl !== wanted.serverUrl)) {
    plan.leftOut.push({ source: record.source, text: 'the global settings of this server are kept' });
    return;
  }
  plan.counts.globalSettings[earlier === undefined ? 'added' : 'changed']++;
  plan.globalSettings = wanted;
  plan.remembered.push({ resource: 'globalSettings', recordId: '1', digest, inletBytes: 0, exportBytes: 0 });
}
