import { createHash } from 'node:crypto';
import type { Caller } from '../../rules/caller.ts';
import type { Prisma } from '../../store/generated/sqlite/client.ts';
import type { Services } from '../services.ts';
import { idleMs, isAlive, mayLogIn, mayServe } from './active.ts';
import type { Identity, LoginSettings } from './login.ts';
import { newSecret, secretDigest } from './secret.ts';
import { failureNote } from '../../store/database-failure.ts';

/** Minimum interval between updates of a session's last use, in ms. */
const noteMs = 60_000;

const withOwners = { user: true, client: { include: { user: true } } } satisfies Prisma.SessionInclude;
type Row = Prisma.SessionGetPayload<{ include: typeof withOwners }>;

/** The login sessions (contract 3.3). They are stored in the database and survive a restart. */
export class Sessions {
  readonly #services: Services;
  readonly #settings: LoginSettings;

  constructor(services: Services, settings: LoginSettings) {
    this.#services = services;
    this.#settings = settings;
  }

  /** Creates a session, and deletes expired ones. @param address the client's address @returns the cookie's value */
  async open(identity: Identity, address: string): Promise<string> {
    const [cookie, now] = [newSecret(), new Date(this.#services.now())];
    const data = {
      id: secretDigest(cookie),
      kind: identity.kind,
      userId: identity.kind === 'user' ? identity.userId : null,
      clientId: identity.kind === 'client' ? identity.clientId : null,
      createdAt: now,
      lastSeenAt: now,
    };
    return this.#services.writes.run({ ...whoIs(identity), address }, async (tx, changed) => {
      const client = data.clientId === null ? null : await tx.client.findUnique({ where: { id: data.clientId } });
      await tx.session.deleteMany({ where: { lastSeenAt: { lt: new Date(now.getTime() - idleMs) } } });
      if (data.userId !== null) await tx.user.updateMany({ where: { id: data.userId }, data: { lastLoginAt: now } });
      const after = await tx.session.create({ data: { ...data, stamp: this.#stamp(cookie, { ...data, client }) } });
      changed({ resource: 'session', action: 'create', after });
      return cookie;
    });
  }

  /** The account of a session cookie; undefined = not valid. */
  async caller(cookie: string): Promise<Caller | undefined> {
    const id = secretDigest(cookie);
    const row = await this.#services.store.db.session.findUnique({ where: { id }, include: withOwners });
    if (row === null || !isAlive(row, this.#services.now()) || row.stamp !== this.#stamp(cookie, row)) return undefined;
    const caller = callerOf(row, this.#services.now());
    if (caller !== undefined) this.#note(row);
    return caller && { ...caller, by: 'session', sessionId: id };
  }

  /** Ends the session of a cookie, if there is one. @param address the client's address */
  async close(cookie: string, address: string): Promise<void> {
    const caller = await this.caller(cookie);
    const where = { id: secretDigest(cookie) };
    await this.#services.writes.run({ kind: 'anonymous', ...caller, address }, async (tx, changed) => {
      const before = await tx.session.findUnique({ where });
      if (before === null) return;
      await tx.session.delete({ where });
      changed({ resource: 'session', action: 'delete', before });
    });
  }

  /**
   * Binds a session to credentials that are not stored in a user's row; for users, a password change deletes their sessions.
   * The stamp includes the cookie's value, so the stored text doesn't help to guess the credentials.
   */
  #stamp(
    cookie: string,
    { kind, client }: Pick<Row, 'kind'> & { readonly client: Pick<NonNullable<Row['client']>, 'vkey' | 'webUsername' | 'webPasswordHash'> | null },
  ): string {
    const { adminUsername, adminPassword } = this.#settings;
    const proven = kind === 'admin'
      ? [adminUsername, adminPassword]
      : client === null
      ? []
      : [client.webUsername, client.webPasswordHash === '' ? client.vkey : client.webPasswordHash];
    return createHash('sha256').update(JSON.stringify([cookie, ...proven])).digest('hex');
  }

  /** Not awaited: it must not delay the response. */
  #note({ id, lastSeenAt }: Row): void {
    const now = this.#services.now();
    if (now - lastSeenAt.getTime() < noteMs) return;
    const { store, log } = this.#services;
    store.transaction((tx) => tx.session.updateMany({ where: { id }, data: { lastSeenAt: new Date(now) } }))
      .catch((error: unknown) => log.warn(failureNote(error), 'the time when a session was last used could not be stored'));
  }
}

function callerOf({ kind, user, client }: Row, now: number): Caller | undefined {
  if (kind === 'admin') return { kind };
  if (user !== null) return mayLogIn(user, now) ? { kind: 'user', userId: user.id } : undefined;
  return client !== null && mayServe(client, now) ? { kind: 'client', clientId: client.id } : undefined;
}

function whoIs(identity: Identity): Caller {
  switch (identity.kind) {
    case 'admin':
      return { kind: 'admin', by: 'password' };
    case 'user':
      return { kind: 'user', userId: identity.userId, by: 'password' };
    case 'client':
      return { kind: 'client', clientId: identity.clientId, by: identity.by === 'vkey' ? 'vkey' : 'password' };
  }
}
