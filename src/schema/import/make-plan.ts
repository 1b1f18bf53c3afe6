import { cleanIpList, joinIpList } from '../../rules/ip-list.ts';
import { patternsOverlap } from '../../rules/host-overlap.ts';
import type { User } from '../../store/generated/sqlite/client.ts';
import type { AditError } from '../errors.ts';
import { platformEntries } from '../platform-domain/input.ts';
import { HostConflicts, TunnelConflicts, Unique } from './conflicts.ts';
import { digestOf, passwordChanged } from './digest.ts';
import { ImportPlan } from './plan.ts';
import type { Imported, ImportSet } from './records.ts';
import { clientRow, hostRow, type RowParts, tunnelRow, userRow } from './rows.ts';
import { earlierKey, type StoredState } from './stored-state.ts';

/** Plans an import: checks all records with the rules of the API, and compares them with what is stored. */
export async function makePlan(set: ImportSet, stored: StoredState, parts: RowParts): Promise<ImportPlan> {
  const plan = new ImportPlan(set, stored, parts);
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
  const names = new Unique<string>();
  const tokens = new Unique<string>();
  const { users } = plan.stored;
  const records = plan.classified(plan.set.users, (user) => users.get(user.id), (user, { passwordHash }) => passwordChanged(user.password, passwordHash));
  for (const { id, username } of kept(users, records)) names.claim(username, `user ${id} of this server`);
  for (const { record: user, state } of records) {
    await plan.turn();
    if (state !== 'added' && state !== 'changed') continue;
    const row = plan.checked(user, (problems) => userRow(problems, user, plan.parts));
    if (row === undefined) continue;
    const other = names.claim(row.username, user.source);
    if (other !== undefined) {
      plan.problem(user, 'username', `is the name of ${other}, too`);
      continue;
    }
    if (user.tokenHash !== '' && !plan.stored.tokenHashes.has(user.tokenHash)) {
      const holder = tokens.claim(user.tokenHash, user.source);
      if (holder === undefined) plan.tokens.push({ userId: user.id, hash: user.tokenHash });
      else plan.problem(user, 'tokenHash', `is the token of ${holder}, too`);
    }
    const before = users.get(user.id);
    plan.write(plan.users, user, row, state, before !== undefined && !passwordChanged(user.password, before.passwordHash));
  }
}

async function planDomains(plan: ImportPlan): Promise<void> {
  const { domains } = plan.stored;
  const records = plan.classified(plan.set.platformDomains, (domain) => domains.get(domain.id));
  const all = kept(domains, records).map((domain) => ({ ...domain, source: `platform domain ${domain.id} of this server` }));
  const ids = new Unique<string>();
  for (const { record, state } of records) {
    const twice = record.id === '' ? undefined : ids.claim(record.id, record.source);
    if (twice !== undefined) plan.problem(record, 'id', 'occurs twice');
    if (state !== 'added' && state !== 'changed') continue;
    const problems: AditError[] = [];
    const entry = plan.checked(
      record,
      (collected) =>
        platformEntries(collected, [{
          id: record.id || null,
          wildcard: record.wildcard,
          certificatePath: record.certificatePath || null,
          privateKeyPath: record.privateKeyPath || null,
        }], [...domains.values()])?.[0],
      problems,
    );
    if (entry === undefined || twice !== undefined) continue;
    const other = all.find(({ id, wildcard }) => id !== entry.id && patternsOverlap(wildcard, entry.wildcard));
    if (other !== undefined) {
      plan.problem(record, 'wildcard', `${entry.wildcard} overlaps ${other.wildcard}`);
      continue;
    }
    all.push({ ...entry, source: record.source });
    plan.write(plan.domains, { ...record, id: entry.id }, entry, state, false);
  }
}

async function planClients(plan: ImportPlan): Promise<void> {
  const { clients, users } = plan.stored;
  const keys = new Unique<string>();
  const owners = new Map<number, Pick<User, 'id' | 'expiresAt'>>([...users, ...plan.users.map(({ row }) => [row.id, row] as const)]);
  const records = plan.classified(
    plan.set.clients,
    (client) => clients.get(client.id),
    (client, { webPasswordHash }) => passwordChanged(client.webPassword, webPasswordHash),
  );
  for (const { id, vkey } of kept(clients, records)) keys.claim(vkey, `client ${id} of this server`);
  for (const { record: client, state } of records) {
    await plan.turn();
    if (state !== 'added' && state !== 'changed') continue;
    const owner = owners.get(client.ownerId);
    const orphaned = client.ownerId !== 0 && owner === undefined;
    const row = plan.checked(client, (problems) => clientRow(problems, client, owner ?? null, plan.parts));
    if (row === undefined) continue;
    if (orphaned) {
      plan.notes.push({
        source: client.source,
        text: `its user ${client.ownerId} does not exist: imported without an owner and disabled, as when a user is deleted`,
      });
    }
    if (client.verifyKey === '') plan.notes.push({ source: client.source, text: 'has no key: a new one is generated' });
    const other = keys.claim(row.vkey, client.source);
    if (other !== undefined) {
      plan.problem(client, 'verifyKey', `is the key of ${other}, too`);
      continue;
    }
    const before = clients.get(client.id);
    const named = orphaned
      ? { ...row, enabled: false, disabledByAdmin: true }
      : client.verifyKey === '' && before !== undefined
      ? { ...row, vkey: before.vkey }
      : row;
    plan.write(plan.clients, client, named, state, before !== undefined && !passwordChanged(client.webPassword, before.webPasswordHash));
  }
}

async function planTunnels(plan: ImportPlan): Promise<void> {
  const { settings } = plan.parts;
  const conflicts = new TunnelConflicts(settings);
  const clients = plan.clientIds();
  const records = plan.classified(plan.set.tunnels, (tunnel) => plan.stored.tunnels.get(tunnel.id));
  for (const tunnel of kept(plan.stored.tunnels, records)) conflicts.add(tunnel, `tunnel ${tunnel.id} of this server`);
  for (const { record: tunnel, state } of records) {
    await plan.turn();
    if (state !== 'added' && state !== 'changed') continue;
    const dangles = plan.dangles(tunnel, clients);
    const row = plan.checked(tunnel, (problems) => tunnelRow(problems, tunnel, plan.parts));
    if (row === undefined || dangles) continue;
    const conflict = conflicts.add(row, tunnel.source);
    if (conflict !== undefined) {
      plan.problem(tunnel, conflict.field, conflict.text);
      continue;
    }
    plan.noteLocalProxy(tunnel, row);
    plan.write(plan.tunnels, tunnel, row, state, false);
  }
}

async function planHosts(plan: ImportPlan): Promise<void> {
  const { settings } = plan.parts;
  const domains = new Map([...plan.stored.domains, ...plan.domains.map(({ row }) => [row.id, row] as const)]);
  const clients = plan.clientIds();
  const owners = new Map<number, number | null>([
    ...Array.from(plan.stored.clients.values(), ({ id, userId }) => [id, userId] as const),
    ...plan.clients.map(({ row }) => [row.id, row.userId] as const),
  ]);
  const serverUrl = plan.set.globalSettings?.serverUrl ?? plan.stored.globalSettings.serverUrl;
  const conflicts = new HostConflicts([...domains.values()], [settings.publicUrl, serverUrl], (clientId) => {
    const owner = owners.get(clientId) ?? null;
    return owner === null ? `client ${clientId}` : `user ${owner}`;
  });
  const records = plan.classified(plan.set.hosts, (host) => plan.stored.hosts.get(host.id));
  for (const host of kept(plan.stored.hosts, records)) conflicts.add(host, `host ${host.id} of this server`);
  for (const { record: host, state } of records) {
    await plan.turn();
    if (state !== 'added' && state !== 'changed') continue;
    const dangles = plan.dangles(host, clients);
    const domain = host.platformDomainId === '' ? null : domains.get(host.platformDomainId);
    if (domain === undefined) {
      plan.problem(host, 'platformDomainId', `the platform domain ${host.platformDomainId} does not exist, or cannot be imported`);
      continue;
    }
    const row = plan.checked(host, (problems) => hostRow(problems, host, domain, plan.parts));
    if (row === undefined || dangles) continue;
    const conflict = conflicts.add(row, host.source);
    if (conflict !== undefined) {
      plan.problem(host, conflict.field, conflict.text);
      continue;
    }
    plan.noteLocalProxy(host, row);
    plan.write(plan.hosts, host, row, state, false);
  }
}

function planGlobal(plan: ImportPlan, record: Imported<'globalSettings'>): void {
  const digest = digestOf(record);
  const earlier = plan.stored.earlier.get(earlierKey('globalSettings', 1));
  const { blackIpList, serverUrl } = plan.stored.globalSettings;
  const wanted = { blackIpList: joinIpList(cleanIpList(record.blocklist)), serverUrl: record.serverUrl.trim() };
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

/** The stored rows that the import does not replace. */
function kept<Id, Row>(rows: ReadonlyMap<Id, Row>, records: ReadonlyArray<{ readonly record: { readonly id: Id }; readonly state: string }>): Row[] {
  const replaced = new Set(records.filter(({ state }) => state === 'changed').map(({ record }) => record.id));
  return Array.from(rows).filter(([id]) => !replaced.has(id)).map(([, row]) => row);
}
