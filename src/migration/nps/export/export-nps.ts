import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs';
import path from 'node:path';
import { createLogs } from '../../../log.ts';
import { newVerifyKey } from '../../../rules/vkey.ts';
import type { Settings } from '../../../settings/settings.ts';
import { lockDataDir } from '../../../store/data-lock.ts';
import type { Reading } from '../../../store/reading.ts';
import { openStore } from '../../../store/store.ts';
import { ConversionError } from '../../new-file.ts';
import { exportedClient, exportedGlobal, exportedHost, exportedTunnel, exportedUser, type Lineage } from './records.ts';

/** Rows that are read at once. */
const pageSize = 1000;
const files = ['clients.json', 'tasks.json', 'hosts.json', 'users.json', 'global.json'];

/**
 * Writes the records of a server as a data folder of NPS. The server must not be running.
 * @returns what was written and what is lost, as text @throws {ConversionError} if the folder has records already @throws {StoreError}
 */
export async function exportNps(directory: string, lineage: Lineage, settings: Settings): Promise<string> {
  const { databaseUrl: url, dataDir } = settings;
  const unlock = url === '' ? lockDataDir(dataDir) : undefined;
  try {
    const log = createLogs({ ...settings, logLevel: { level: 'warn', modules: {} } })('store');
    const store = await openStore({ url, dataDir, log, alone: true });
    try {
      // A server that was killed may have left newer counters beside the rows.
      await store.forgetRunningState();
      return await writeFolder(store.db, directory, lineage, Date.now());
    } finally {
      await store.close();
    }
  } finally {
    await unlock?.();
  }
}

/** Writes the folder. @param now ms since the epoch */
export async function writeFolder(db: Reading, directory: string, lineage: Lineage, now: number): Promise<string> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const present = files.find((name) => existsSync(path.join(directory, name)));
  if (present !== undefined) throw new ConversionError(`${path.join(directory, present)} exists already: name an empty directory`);
  const page = (last: number) => ({ where: { id: { gt: last } }, orderBy: { id: 'asc' }, take: pageSize }) as const;
  const users = new RecordFile(lineage === 'Z' ? path.join(directory, 'users.json') : undefined);
  await each((last) => db.user.findMany(page(last)), (user) => users.add(exportedUser(user, newVerifyKey())));
  const clients = new RecordFile(path.join(directory, 'clients.json'));
  let webLogins = 0;
  let owned = 0;
  await each((last) => db.client.findMany({ ...page(last), include: { user: true } }), (client) => {
    if (client.webUsername !== '') webLogins++;
    if (client.userId !== null) owned++;
    clients.add(exportedClient(client, lineage, client.webUsername === '' ? '' : newVerifyKey(), now));
  });
  const tunnels = new RecordFile(path.join(directory, 'tasks.json'));
  const hosts = new RecordFile(path.join(directory, 'hosts.json'));
  let [declared, acme, platform] = [0, 0, 0];
  await each((last) => db.tunnel.findMany(page(last)), (tunnel) => {
    if (tunnel.noStore) declared++;
    else tunnels.add(exportedTunnel(tunnel, lineage));
  });
  await each((last) => db.host.findMany(page(last)), (host) => {
    if (host.acme) acme++;
    if (host.platformDomainId !== null) platform++;
    if (host.noStore) declared++;
    else hosts.add(exportedHost(host, lineage));
  });
  for (const file of [users, clients, tunnels, hosts]) file.close();
  const domains = await db.platformDomain.findMany({ orderBy: { id: 'asc' } });
  const global = await db.globalSettings.findUnique({ where: { id: 1 } }) ?? { blackIpList: '', serverUrl: '' };
  const globalFile = new RecordFile(path.join(directory, 'global.json'), '');
  globalFile.add(exportedGlobal(global, domains, lineage));
  globalFile.close();

  const allowlists = await db.client.count({ where: { ipWhite: true } });
  const tokens = await db.apiToken.count();
  const lost = [
    lineage === 'Z'
      ? users.count > 0 && `the passwords of ${users.count} users: they are stored as hashes. Each user has got a random password: set new ones`
      : users.count > 0
        && `${users.count} users: this lineage has none. Their ${owned} clients have no owner; those of disabled and expired users are disabled`,
    webLogins > 0 && `the passwords of ${webLogins} web logins of clients: each has got a random password`,
    tokens > 0 && `${tokens} API tokens`,
    declared > 0 && `${declared} tunnels and hosts of agents' configuration files: the agents declare them again`,
    acme > 0 && lineage !== 'D' && `the certificates of ${acme} hosts that get them by ACME`,
    platform > 0 && lineage !== 'Z' && `the platform domains of ${platform} hosts, which are written as hosts with their full names`,
    allowlists > 0 && lineage === 'D' && `the allowlists of ${allowlists} clients: their tunnels and hosts are open to every address`,
    'networks such as 192.0.2.0/24 in address lists: NPS compares whole addresses only',
    'the audit log, traffic series and sessions',
    'nps.conf is not written: use the one that you had',
  ].filter((line) => line !== false);
  const written = [`${clients.count} clients`, `${tunnels.count} tunnels`, `${hosts.count} hosts`, ...(lineage === 'Z' ? [`${users.count} users`] : [])];
  return `Written to ${directory}: ${written.join(', ')}.\n\nLost:\n${lost.map((line) => `  ${line}\n`).join('')}`;
}

/** A file of records, each followed by a separator. */
class RecordFile {
  readonly #descriptor: number | undefined;
  readonly #separator: string;
  count = 0;

  /** @param file undefined = count only */
  constructor(file: string | undefined, separator = '\n*#*') {
    this.#descriptor = file === undefined ? undefined : openSync(file, 'wx', 0o600);
    this.#separator = separator;
  }

  add(record: object): void {
    this.count++;
    if (this.#descriptor !== undefined) writeSync(this.#descriptor, `${JSON.stringify(record)}${this.#separator}`);
  }

  close(): void {
    if (this.#descriptor === undefined) return;
    fsyncSync(this.#descriptor);
    closeSync(this.#descriptor);
  }
}

/** Calls a function for each row, in order of the ids. */
async function each<Row extends { readonly id: number }>(read: (last: number) => Promise<Row[]>, use: (row: Row) => void): Promise<void> {
  let last = -(2 ** 31);
  for (;;) {
    const rows = await read(last);
    for (const row of rows) use(row);
    const end = rows.at(-1);
    if (end === undefined || rows.length < pageSize) return;
    last = end.id;
  }
}
