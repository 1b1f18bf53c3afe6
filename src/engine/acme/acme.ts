import type { Logger } from 'pino';
import type { CertificateFacts } from '../../rules/certificate.ts';
import type { AcmeRetry, AcmeState } from '../face.ts';
import { CertificateAuthority, type AuthorityOptions } from './certificate-authority.ts';
import { AcmeProblem } from './acme-problem.ts';
import { type AcmeAttempt, AcmeFiles, type AcmeKeeping } from './files.ts';

/** Times in ms, and limits. Authorities allow more: 300 orders in 3 hours, 5 failures per name and hour. */
const ACME_TIMING = {
  /** The delay before the second attempt; it doubles for each further attempt. */
  backoffMs: 5 * 60_000,
  longestBackoffMs: 24 * 3_600_000,
  /** Maximum concurrent orders. */
  atOnce: 4,
  /** Maximum orders started per hour. */
  perHour: 60,
  /** Maximum attempts per name and hour that are requested in addition to those after the delay. Authorities allow 5 failures. */
  retriesPerHour: 3,
  /** Maximum interval between checks of the clock, which may be changed. */
  lookMs: 60_000,
} as const;

/** @see ACME_TIMING */
export type AcmeTiming = { readonly [Name in keyof typeof ACME_TIMING]: number };

/** Where certificates are ordered and kept. */
export interface AcmeOptions extends AuthorityOptions, AcmeKeeping {
  readonly timing?: Partial<AcmeTiming>;
  /** A name of the server itself that needs a certificate. */
  readonly ownName?: string;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A name that needs a certificate. */
interface Wanted {
  readonly name: string;
  /** Its orders count for this client. */
  readonly clientId: number;
  /** Aborted when the name no longer needs a certificate, or the server stops. */
  readonly over: AbortController;
  facts: CertificateFacts | undefined;
  failures: number;
  /** Why the last order failed; "" = it did not. */
  problem: string;
  /** When the last order began, ms since the epoch; undefined = it is not known. */
  lastAt: number | undefined;
  /** When the next order is due, ms since the epoch; undefined = the stored files were not read yet. */
  nextAt: number | undefined;
  ordering: boolean;
  /** The key authorizations of open challenges, by token. */
  readonly answers: Map<string, string>;
}

/**
 * Gets certificates for the names of hosts by ACME (RFC 8555): orders, renews at two thirds of the lifetime, backs off after
 * failures. One order per name at a time. Certificates and the times of the next attempts survive a restart.
 */
export class Acme {
  /** The certificate of a name, or the state of its order, has changed. */
  onChange: (name: string) => void = () => undefined;
  readonly #files: AcmeFiles;
  readonly #authority: CertificateAuthority;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #timing: AcmeTiming;
  readonly #wanted = new Map<string, Wanted>();
  readonly #orders = new Set<Promise<void>>();
  /** When the orders of the last hour started, and their clients. */
  #begun: Array<{ readonly at: number; readonly clientId: number }> = [];
  /** The authority's Retry-After: no order starts before. */
  #pausedUntil = 0;
  /** When attempts were requested within the last hour, by name. Kept when a name is no longer wanted: a host can be stopped and started. */
  readonly #retries = new Map<string, readonly number[]>();
  #sweptAt = Number.NEGATIVE_INFINITY;
  /** The time at the last check of the clock. */
  #lookedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #running = false;

  constructor(options: AcmeOptions, log: Logger, now: () => number) {
    this.#files = new AcmeFiles(options, options.directory, log);
    this.#authority = new CertificateAuthority(options, this.#files);
    this.#log = log;
    this.#now = now;
    this.#timing = { ...ACME_TIMING, ...options.timing };
  }

  /** Starts orders: from now on challenges can be answered. */
  start(): void {
    this.#running = true;
    this.look();
  }

  /** Stops; resolves when orders in progress were aborted. */
  async stop(): Promise<void> {
    this.#running = false;
    clearTimeout(this.#timer);
    for (const { over } of this.#wanted.values()) over.abort();
    this.#authority.close();
    await Promise.all(this.#orders);
  }

  /** Adds a name that a host needs. `unwant` must follow. @param clientId the host's client; 0 = the server itself */
  want(name: string, clientId: number): void {
    const wanted: Wanted = {
      name,
      clientId,
      over: new AbortController(),
      facts: undefined,
      failures: 0,
      problem: '',
      lastAt: undefined,
      nextAt: undefined,
      ordering: false,
      answers: new Map(),
    };
    this.#wanted.set(name, wanted);
    this.#inBackground(this.#recall(wanted));
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
    const { ordering, failures, facts, problem, lastAt, nextAt } = wanted;
    return {
      status: ordering ? 'pending' : failures > 0 ? 'failed' : facts ? 'valid' : 'pending',
      failures,
      problem,
      lastAt: lastAt ?? null,
      nextAt: ordering ? null : nextAt ?? null,
    };
  }

  /** The key authorization for a token, while an order of the name is in progress. */
  answer(name: string, token: string): string | undefined {
    return this.#wanted.get(name)?.answers.get(token);
  }

  /** Attempts a failed order now, instead of after its delay. */
  retry(name: string): AcmeRetry {
    const wanted = this.#wanted.get(name);
    if (!wanted || (!wanted.ordering && wanted.failures === 0)) return { kind: 'notFailed' };
    if (wanted.ordering) return { kind: 'started' };
    const now = this.#now();
    for (const [other, times] of this.#retries) if (times.every((at) => at <= now - HOUR_MS)) this.#retries.delete(other);
    const recent = (this.#retries.get(name) ?? []).filter((at) => at > now - HOUR_MS);
    const [first = now] = recent;
    if (recent.length >= this.#timing.retriesPerHour) return { kind: 'later', at: first + HOUR_MS };
    if (this.#pausedUntil > now) return { kind: 'later', at: this.#pausedUntil };
    this.#retries.set(name, [...recent, now]);
    wanted.nextAt = now;
    this.look();
    return { kind: 'started' };
  }

  /** Starts as many due orders as the limits allow; also called by a timer. */
  look(): void {
    if (!this.#running) return;
    const now = this.#now();
    if (now < this.#lookedAt) this.#clockSetBack(this.#lookedAt - now);
    this.#lookedAt = now;
    this.#begun = this.#begun.filter(({ at }) => at > now - HOUR_MS);
    // Names that never failed go first, so that many failing names of one client do not delay others.
    const due = Array.from(this.#wanted.values()).filter(({ nextAt, ordering }) => !ordering && nextAt !== undefined && nextAt <= now)
      .toSorted((a, b) => a.failures - b.failures || Number(a.nextAt) - Number(b.nextAt));
    for (const wanted of due) {
      if (now < this.#pausedUntil || this.#orders.size >= this.#timing.atOnce || this.#begun.length >= this.#timing.perHour) break;
      if (!this.#hasShare(wanted)) continue;
      this.#begun.push({ at: now, clientId: wanted.clientId });
      const order = this.#order(wanted).catch((error: unknown) =>
        this.#log.error({ name: wanted.name, err: error }, 'the state of an ACME order could not be stored')
      ).finally(() => {
        this.#orders.delete(order);
        this.look();
      });
      this.#orders.add(order);
    }
    if (now - this.#sweptAt >= DAY_MS) {
      this.#sweptAt = now;
      this.#inBackground(this.#files.sweep((name) => this.#wanted.has(name), now));
    }
    this.#lookLater(now);
  }

  /** Whether a client may start one more order in this hour: it leaves as many to the others as it has started, so that new names of one client do not delay all others. */
  #hasShare({ clientId }: Wanted): boolean {
    const own = this.#begun.filter((order) => order.clientId === clientId).length;
    return own <= this.#timing.perHour - this.#begun.length;
  }

  /** Keeps delays and limits as long as they were: they must not last until the wrong time comes again. Renewals are due at a time, which stays. */
  #clockSetBack(ms: number): void {
    const earlier = (at: number): number => at - ms;
    for (const wanted of this.#wanted.values()) if (wanted.failures > 0 && wanted.nextAt !== undefined) wanted.nextAt = earlier(wanted.nextAt);
    for (const [name, times] of this.#retries) this.#retries.set(name, times.map(earlier));
    this.#begun = this.#begun.map(({ at, clientId }) => ({ at: earlier(at), clientId }));
    this.#pausedUntil = earlier(this.#pausedUntil);
    this.#sweptAt = earlier(this.#sweptAt);
  }

  #lookLater(now: number): void {
    let ms = this.#timing.lookMs;
    for (const { nextAt, ordering } of this.#wanted.values()) if (!ordering && nextAt !== undefined && nextAt > now) ms = Math.min(ms, nextAt - now);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.look(), ms).unref();
  }

  /** Loads the stored certificate and attempt of a name. */
  async #recall(wanted: Wanted): Promise<void> {
    const [facts, attempt] = await Promise.all([this.#files.certificate(wanted.name), this.#files.attempt(wanted.name)]);
    wanted.facts = facts;
    wanted.failures = attempt?.failures ?? 0;
    wanted.problem = attempt?.problem ?? '';
    wanted.lastAt = attempt?.lastAt;
    // If the clock was wrong then, the order must not be delayed for years.
    wanted.nextAt = attempt ? Math.min(attempt.nextAt, this.#now() + this.#timing.longestBackoffMs) : renewalOf(facts, this.#now());
    this.onChange(wanted.name);
    this.look();
  }

  async #order(wanted: Wanted): Promise<void> {
    const { name, over: { signal } } = wanted;
    const { failures, problem, lastAt, nextAt = 0 } = wanted;
    const before = { failures, problem, lastAt, nextAt };
    wanted.ordering = true;
    wanted.lastAt = this.#now();
    this.onChange(name);
    try {
      // Stored before the order starts, so that a server in a crash loop doesn't order again and again.
      this.#files.saveAttempt(name, this.#afterFailure(wanted, 'the order was broken off', 0));
      const { key, chain } = await this.#authority.order(name, (token, answer) => wanted.answers.set(token, answer), signal);
      signal.throwIfAborted();
      wanted.facts = this.#files.saveCertificate(name, key, chain);
      await this.#files.forgetAttempt(name);
      Object.assign(wanted, { failures: 0, problem: '', nextAt: renewalOf(wanted.facts, this.#now()) });
      this.#log.info({ name, expiresAt: wanted.facts.validTo }, 'a certificate was issued by ACME');
    } catch (error) {
      // After a graceful stop, the next start repeats the order. If the name was removed, the wait applies when it is added again.
      if (!signal.aborted) await this.#failed(wanted, error);
      else if (!this.#running) await this.#restore(name, before);
    } finally {
      wanted.answers.clear();
      wanted.ordering = false;
      this.onChange(name);
    }
  }

  async #failed(wanted: Wanted, error: unknown): Promise<void> {
    const known = error instanceof AcmeProblem;
    const retryAfterMs = known ? error.retryAfterMs : 0;
    const problem = error instanceof Error ? error.message : String(error);
    if (known && error.reason === 'accountDoesNotExist') await this.#authority.forgetAccount();
    // The limit may be for this name only, so the other names wait for an hour at most.
    if (known && error.reason === 'rateLimited') this.#pausedUntil = this.#now() + Math.min(Math.max(retryAfterMs, this.#timing.backoffMs), HOUR_MS);
    const attempt = this.#afterFailure(wanted, problem, retryAfterMs);
    Object.assign(wanted, attempt);
    this.#log.warn(
      { name: wanted.name, failures: attempt.failures, nextAt: new Date(attempt.nextAt), err: known ? undefined : error },
      `no ACME certificate: ${problem}`,
    );
    this.#files.saveAttempt(wanted.name, attempt);
  }

  /** Exponential backoff with up to a fifth of jitter, so that many names don't retry together. */
  #afterFailure({ failures, lastAt }: Wanted, problem: string, retryAfterMs: number) {
    const { backoffMs, longestBackoffMs } = this.#timing;
    const wait = Math.min(backoffMs * 2 ** Math.min(failures, 30) * (1 + Math.random() / 5), longestBackoffMs);
    return { failures: failures + 1, problem, lastAt, nextAt: this.#now() + Math.max(wait, Math.min(retryAfterMs, 7 * DAY_MS)) };
  }

  async #restore(name: string, before: AcmeAttempt): Promise<void> {
    if (before.failures === 0) await this.#files.forgetAttempt(name);
    else this.#files.saveAttempt(name, before);
  }

  #inBackground(work: Promise<void>): void {
    work.catch((error: unknown) => this.#log.error({ err: error }, 'the ACME certificates could not be maintained'));
  }
}

/** When to order a certificate: at two thirds of the lifetime; immediately if there is none. */
function renewalOf(facts: CertificateFacts | undefined, now: number): number {
  if (!facts) return now;
  const from = facts.validFrom.getTime();
  return from + (facts.validTo.getTime() - from) * 2 / 3;
}
