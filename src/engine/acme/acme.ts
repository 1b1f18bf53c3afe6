import type { Logger } from 'pino';
import type { AcmeRetry, AcmeState } from '../face.ts';
import { CertificateAuthority, type AuthorityOptions } from './certificate-authority.ts';
import { ACME_TIMING, type AcmeTiming } from './acme-timing.ts';
import { SharedChallenges } from './challenges.ts';
import { AcmeFiles, type AcmeKeeping, type KeptOrders } from './files.ts';
import { OrderBook } from './order-book.ts';
import { Orderer } from './orderer.ts';
import { mayBegin } from './orders.ts';
import { dueAt, newlyWanted, type Wanted } from './wanted-name.ts';

/** Where certificates are ordered and kept. */
export interface AcmeOptions extends AuthorityOptions, AcmeKeeping {
  readonly timing?: Partial<AcmeTiming>;
  /** A name of the server itself that needs a certificate. */
  readonly ownName?: string;
}

const DAY_MS = 24 * 3_600_000;

/**
 * Gets certificates for the names of hosts by ACME (RFC 8555): orders, renews at two thirds of the lifetime, backs off after
 * failures. One order per name at a time. Certificates and the times of the next attempts survive a restart. Of several servers, the leader orders; all know the state of its orders, and
 * can answer their challenges.
 */
export class Acme {
  /** The certificate of a name, or the state of its order, has changed. */
  onChange: (name: string) => void = () => undefined;
  readonly #files: AcmeFiles;
  readonly #authority: CertificateAuthority;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #timing: AcmeTiming;
  readonly #leadsOthers: (() => boolean) | undefined;
  readonly #challenges: SharedChallenges | undefined;
  readonly #wanted = new Map<string, Wanted>();
  readonly #running = new Set<Promise<void>>();
  readonly #book = new OrderBook();
  readonly #orderer: Orderer;
  #sweptAt = Number.NEGATIVE_INFINITY;
  /** The time at the last check of the clock. */
  #lookedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #started = false;
  /** Resolves when the files of this server are shared. */
  #sharing: Promise<void> | undefined;
  /** Of several servers, this one orders, and knows what others have begun. */
  #leads = false;
  /** It is finding that out. */
  #takingOver = false;

  constructor(options: AcmeOptions, log: Logger, now: () => number) {
    this.#files = new AcmeFiles(options, options.directory, log);
    this.#authority = new CertificateAuthority(options, this.#files);
    this.#log = log;
    this.#now = now;
    this.#timing = { ...ACME_TIMING, ...options.timing };
    this.#leadsOthers = options.shared?.leads;
    this.#orderer = new Orderer({
      files: this.#files,
      authority: this.#authority,
      book: this.#book,
      log,
      now,
      timing: this.#timing,
      amongOthers: options.shared !== undefined,
      isStopping: () => !this.#started,
      onChange: (name) => this.onChange(name),
    });
    this.#challenges = options.shared && new SharedChallenges(() => this.#files.orders(), log);
  }

  /** Starts orders: from now on challenges can be answered. */
  start(): void {
    this.#started = true;
    this.look();
  }

  /** Stops; resolves when orders in progress were aborted. */
  async stop(): Promise<void> {
    this.#started = false;
    clearTimeout(this.#timer);
    for (const { over } of this.#wanted.values()) over.abort();
    this.#authority.close();
    await Promise.all(this.#running);
  }

  /** Adds a name that a host needs. `unwant` must follow. @param clientId the host's client; 0 = the server itself */
  want(name: string, clientId: number): void {
    const wanted = newlyWanted(name, clientId);
    this.#wanted.set(name, wanted);
    const recalling = this.#recall(wanted);
    // While the database is away, `look` reads all that is missing again, and logs that once.
    if (this.#leadsOthers) recalling.catch(() => undefined);
    else this.#inBackground(recalling);
  }

  /** No host has the name any more: aborts its order. */
  unwant(name: string): void {
    this.#wanted.get(name)?.over.abort();
    this.#wanted.delete(name);
  }

  /** The path of the file with the certificate and key of a name; it may not exist yet. */
  fileOf(name: string): string {
    return this.#files.certificateFile(name);
  }

  /** undefined = the name isn't wanted */
  state(name: string): AcmeState | undefined {
    const wanted = this.#wanted.get(name);
    if (!wanted) return undefined;
    const { facts, lastAt, nextAt } = wanted;
    const ordering = wanted.ordering || wanted.elsewhere !== undefined;
    const { failures, problem } = wanted.elsewhere ?? wanted;
    return {
      status: ordering ? 'pending' : failures > 0 ? 'failed' : facts ? 'valid' : 'pending',
      failures,
      problem,
      lastAt: lastAt ?? null,
      nextAt: ordering ? null : nextAt ?? null,
    };
  }

  /**
   * The key authorization for a token, while an order of the name is in progress. A promise, which does not reject, if another server may have placed it.
   * @param isServed a host has the name: without ACME, the challenges are its target's own, and do not wait for a look
   */
  answer(name: string, token: string, isServed: boolean): string | undefined | Promise<string | undefined> {
    const wanted = this.#wanted.get(name);
    if (!wanted && isServed) return undefined;
    return wanted?.answers.get(token) ?? this.#challenges?.answer(name, token);
  }

  /** Attempts a failed order now, instead of after its delay. @throws the error of the disk or of the database */
  async retry(name: string): Promise<AcmeRetry> {
    const wanted = this.#wanted.get(name);
    if (!wanted) return { kind: 'notFailed' };
    if (wanted.ordering) return { kind: 'started' };
    const now = this.#now();
    let answer: AcmeRetry = { kind: 'notFailed' };
    await this.#files.update(name, now, ({ attempt, orders = this.#book.orders }) => {
      const failed = this.#leadsOthers ? attempt : wanted;
      if (!failed || failed.failures === 0) return undefined;
      answer = attempt?.ordering ? { kind: 'started' } : this.#book.request(name, attempt?.retries ?? [], orders, now, this.#timing.retriesPerHour);
      if (answer.kind !== 'started' || attempt?.ordering) return undefined;
      const { failures, problem, lastAt } = failed;
      return { attempt: { failures, problem, lastAt, nextAt: now, retries: this.#book.retriesOf(name) } };
    });
    if (answer.kind === 'started' && !wanted.ordering && !wanted.elsewhere) {
      wanted.turn++;
      wanted.nextAt = now;
      this.look();
    }
    return answer;
  }

  /** Resolves when the certificates that several servers share are in files of this one, as far as they can be read. */
  async recalled(): Promise<void> {
    if (this.#leadsOthers) await Promise.allSettled(Array.from(this.#wanted.values()).flatMap(({ recalling }) => recalling ?? []));
  }

  /** Another server has changed what is kept of a name. @param name absent = of any @throws the error of the database */
  async follow(name?: string): Promise<void> {
    const changed = name === undefined ? [...this.#wanted.values()] : [this.#wanted.get(name)];
    await Promise.all(changed.flatMap((wanted) => wanted ? this.#recall(wanted) : []));
  }

  /** Starts as many due orders as the limits allow; also called by a timer. */
  look(): void {
    if (!this.#started) return;
    const now = this.#now();
    if (now < this.#lookedAt) this.#clockSetBack(this.#lookedAt - now);
    this.#lookedAt = now;
    if (this.#leadsOthers) this.#recallMissed();
    if (this.#mayOrder()) this.#orderDue(now);
    if (now - this.#sweptAt >= DAY_MS) {
      this.#sweptAt = now;
      this.#inBackground(this.#files.sweep((name) => this.#wanted.has(name), now, this.#leadsOthers?.() ?? true));
    }
    this.#lookLater(now);
  }

  #orderDue(now: number): void {
    this.#book.keepCurrent(now);
    // Names that never failed go first, so that many failing names of one client do not delay others.
    const due = Array.from(this.#wanted.values()).filter(({ nextAt, ordering }) => !ordering && nextAt !== undefined && nextAt <= now)
      .toSorted((a, b) => a.failures - b.failures || Number(a.nextAt) - Number(b.nextAt));
    for (const wanted of due) {
      if (this.#running.size >= this.#timing.atOnce) break;
      if (!mayBegin(this.#book.orders, wanted.clientId, now, this.#timing.perHour)) continue;
      this.#book.begin(now, wanted.clientId);
      const order = this.#orderer.place(wanted).then(
        (placed) => {
          if (!placed) this.#inBackground(this.#recall(wanted));
        },
        (error: unknown) => this.#log.error({ name: wanted.name, err: error }, 'the state of an ACME order could not be stored'),
      ).finally(() => {
        this.#running.delete(order);
        this.look();
      });
      this.#running.add(order);
    }
  }

  /** Whether this server orders. It learns first what others have begun. */
  #mayOrder(): boolean {
    if (!this.#leadsOthers) return true;
    if (!this.#leadsOthers()) this.#leads = false;
    else if (!this.#leads && !this.#takingOver) {
      this.#takingOver = true;
      this.#inBackground(
        this.#takeOver().finally(() => {
          this.#takingOver = false;
        }),
      );
    }
    return this.#leads;
  }

  async #takeOver(): Promise<void> {
    this.#book.orders = await this.#files.orders();
    this.#leads = this.#leadsOthers?.() === true;
    if (!this.#leads) return;
    await Promise.all(Array.from(this.#wanted.values()).flatMap((wanted) => wanted.elsewhere ? this.#recall(wanted) : []));
    this.look();
  }

  /** Keeps delays and limits as long as they were: they must not last until the wrong time comes again. Renewals are due at a time, which stays. */
  #clockSetBack(ms: number): void {
    for (const wanted of this.#wanted.values()) if (wanted.failures > 0 && wanted.nextAt !== undefined) wanted.nextAt -= ms;
    this.#book.clockSetBack(ms);
    this.#sweptAt -= ms;
  }

  #lookLater(now: number): void {
    let ms = this.#leadsOthers ? Math.min(this.#timing.lookMs, this.#timing.lookAmongOthersMs) : this.#timing.lookMs;
    for (const { nextAt, ordering } of this.#wanted.values()) if (!ordering && nextAt !== undefined && nextAt > now) ms = Math.min(ms, nextAt - now);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.look(), ms).unref();
  }

  /** What could not be read before, since the database was away. */
  #recallMissed(): void {
    const missed = Array.from(this.#wanted.values()).filter(({ nextAt, recalling }) => nextAt === undefined && !recalling);
    this.#inBackground(Promise.all(missed.map((wanted) => this.#recall(wanted))).then(() => undefined));
  }

  /** Loads what is kept of a name. */
  #recall(wanted: Wanted): Promise<void> {
    const recalling = this.#read(wanted).finally(() => {
      if (wanted.recalling === recalling) wanted.recalling = undefined;
    });
    wanted.recalling = recalling;
    return recalling;
  }

  async #read(wanted: Wanted): Promise<void> {
    if (wanted.ordering) return;
    const turn = ++wanted.turn;
    if (this.#leadsOthers) {
      await (this.#sharing ??= this.#files.share().catch((error: unknown) => {
        this.#sharing = undefined;
        throw error;
      }));
    }
    const kept = await this.#files.kept(wanted.name);
    if (turn !== wanted.turn) return;
    await kept.copy();
    if (turn !== wanted.turn) return;
    this.#use(wanted, kept);
    this.onChange(wanted.name);
    this.look();
  }

  #use(wanted: Wanted, { facts, attempt }: Pick<KeptOrders, 'facts' | 'attempt'>): void {
    const { failures = 0, problem = '', lastAt = wanted.lastAt, ordering, retries } = attempt ?? {};
    Object.assign(wanted, { facts, failures, problem, lastAt, nextAt: dueAt(facts, attempt, this.#now(), this.#timing.longestBackoffMs) });
    if (retries) this.#book.useRetries(wanted.name, retries);
    wanted.elsewhere = this.#leads ? undefined : ordering;
    // The server that ordered has ended, or no longer leads.
    if (ordering && this.#leads) {
      this.#inBackground(
        this.#files.update(
          wanted.name,
          this.#now(),
          ({ attempt: kept }) => kept?.ordering && kept.lastAt === lastAt ? { attempt: { ...kept, ordering: undefined } } : undefined,
        ).then(() => undefined),
      );
    }
  }

  #inBackground(work: Promise<void>): void {
    work.catch((error: unknown) => this.#log.error({ err: error }, 'the ACME certificates could not be maintained'));
  }
}
