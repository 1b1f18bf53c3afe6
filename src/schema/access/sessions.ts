import { createHash } from 'node:crypto';
import type { Caller } from '../../rules/caller.ts';
import type { Prisma } from '../../store/generated/sqlite/client.ts';
import type { Services } from '../context.ts';
import { mayLogIn, mayServe } from './active.ts';
import type { Identity, LoginSettings } from './login.ts';
import { newSecret, secretDigest } from './secret.ts';

/** A session that isn't used for this long is over, in ms (contract section 0: an hour). */
const idleMs = 3_600_000;
/** And in any case after this long. */
const longestMs = 7 * 24 * 3_600_000;
/** Its use is written down this often at most. */
const noteMs = 60_000;

const withOwners = { user: true, client: { include: { user: true } } } satisfies Prisma.SessionInclude;
type Row = Prisma.SessionGetPayload<{ include: typeof withOwners }>;

/** The logins that go on (contract 3.3). They are kept in the database, and so outlive a restart. */
export class Sessions {
  readonly #services: Services;
  readonly #settings: LoginSettings;
  readonly #now: () => number;

  constructor(services: Services, settings: LoginSettings, now: () => number) {
    this.#services = services;
    this.#settings = settings;
    this.#now = now;
  }

  /** Begins a session, and with each the long unused ones go. @returns the cookie's value */
  async open(identity: Identity): Promise<string> {
    const { db } = this.#services.store;
    const [cookie, now] = [newSecret(), new Date(this.#now())];
    const data = {
      id: secretDigest(cookie),
      kind: identity.kind,
      userId: identity.kind === 'user' ? identity.userId : null,
      clientId: identity.kind === 'client' ? identity.clientId : null,
      createdAt: now,
      lastSeenAt: now,
    };
    const client = data.clientId === null ? null : await db.client.findUnique({ where: { id: data.clientId } });
    await db.session.deleteMany({ where: { lastSeenAt: { lt: new Date(this.#now() - idleMs) } } });
    await db.session.create({ data: { ...data, stamp: this.#stamp(cookie, { ...data, client }) } });
    return cookie;
  }

  /** Whose session a cookie is, as things stand now; undefined = nobody's. */
  async caller(cookie: string): Promise<Caller | undefined> {
    const id = secretDigest(cookie);
    const row = await this.#services.store.db.session.findUnique({ where: { id }, include: withOwners });
    if (row === null || !this.#isAlive(row) || row.stamp !== this.#stamp(cookie, row)) return undefined;
    const caller = callerOf(row);
    if (caller !== undefined) this.#note(row);
    return caller && { ...caller, by: 'session', sessionId: id };
  }

  /** Ends the session of a cookie. */
  async close(cookie: string): Promise<void> {
    await this.#services.store.db.session.deleteMany({ where: { id: secretDigest(cookie) } });
  }

  #isAlive({ createdAt, lastSeenAt }: Row): boolean {
    const now = this.#now();
    return now - lastSeenAt.getTime() < idleMs && now - createdAt.getTime() < longestMs;
  }

  /**
   * Binds a session to credentials that live outside the user's row. A user's sessions are deleted where the password is changed.
   * The cookie's value is in it, so the stored text helps nobody to guess them.
   */
  #stamp(cookie: string, { kind, client }: Pick<Row, 'kind'> & { readonly client: Pick<NonNullable<Row['client']>, 'vkey' | 'webUsername' | 'webPasswordHash'> | null }): string {
    const { adminUsername, adminPassword } = this.#settings;
    const proven = kind === 'admin' ? [adminUsername, adminPassword]
      : client === null ? [] : [client.webUsername, client.webPasswordHash === '' ? client.vkey : client.webPasswordHash];
    return createHash('sha256').update(JSON.stringify([cookie, ...proven])).digest('hex');
  }

  /** Not awaited: nobody's answer has to wait for it. */
  #note({ id, lastSeenAt }: Row): void {
    const now = this.#now();
    if (now - lastSeenAt.getTime() < noteMs) return;
    const { store, log } = this.#services;
    store.db.session.updateMany({ where: { id }, data: { lastSeenAt: new Date(now) } })
      .catch((error: unknown) => log.warn({ err: error }, 'the use of a session could not be noted'));
  }
}

function callerOf({ kind, user, client }: Row): Caller | undefined {
  if (kind === 'admin') return { kind };
  if (user !== null) return mayLogIn(user) ? { kind: 'user', userId: user.id } : undefined;
  return client !== null && mayServe(client) ? { kind: 'client', clientId: client.id } : undefined;
}
