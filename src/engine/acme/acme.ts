import type { Logger } from 'pino';
import type { CertificateFacts } from '../../rules/certificate.ts';
import type { AcmeState } from '../face.ts';
import { CertificateAuthority, type AuthorityOptions } from './certificate-authority.ts';
import { AcmeProblem } from './acme-problem.ts';
import { AcmeFiles, type AcmeKeeping } from './files.ts';

/** Times and limits, in ms. What authorities allow is more: 300 orders in 3 hours, 5 failures of a name in an hour. */
const ACME_TIMING = {
  /** Before the second try; twice as long before each further one. */
  backoffMs: 5 * 60_000,
  longestBackoffMs: 24 * 3_600_000,
  /** Orders that are under way. */
  atOnce: 4,
  /** Orders that are begun in an hour. */
  perHour: 60,
  /** The clock is read again after this long at most: it may have been set. */
  lookMs: 60_000,
} as const;

/** @see ACME_TIMING */
export type AcmeTiming = { readonly [Name in keyof typeof ACME_TIMING]: number };

/** Where certificates are ordered and kept. */
export interface AcmeOptions extends AuthorityOptions, AcmeKeeping {
  readonly timing?: Partial<AcmeTiming>;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A name that needs a certificate. */
interface Wanted {
  readonly name: string;
  /** Aborted when the name no longer needs a certificate, or the server stops. */
  readonly over: AbortController;
  facts: CertificateFacts | undefined;
  failures: number;
  /** Of the last order; "" = it did not fail. */
  problem: string;
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
  /** When orders were begun in the last hour. */
  #begun: number[] = [];
  /** The authority's Retry-After: no order starts before. */
  #pausedUntil = 0;
  #sweptAt = Number.NEGATIVE_INFINITY;
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

  /** A host has this name. `unwant` must follow. */
  want(name: string): void {
    const wanted: Wanted = { name, over: new AbortController(), facts: undefined, failures: 0, problem: '', nextAt: undefined, ordering: false, answers: new Map() };
    this.#wanted.set(name, wanted);
    this.#inBackground(this.#recall(wanted));
  }

  /** No host has the name any more: aborts its order. */
  unwant(name: string): void {
    this.#wanted.get(name)?.over.abort();
    this.#wanted.delete(name);
  }

  /** The file that the certificate of a name is in, with its key, once there is one. */
  fileOf(name: string): string {
    return this.#files.certificateFile(name);
  }

  /** undefined = the name isn't wanted */
  state(name: string): AcmeState | undefined {
    const wanted = this.#wanted.get(name);
    if (!wanted) return undefined;
    const { ordering, failures, facts, problem, nextAt } = wanted;
    return { status: ordering ? 'pending' : failures > 0 ? 'failed' : facts ? 'valid' : 'pending', problem, nextAt: ordering ? null : nextAt ?? null };
  }

  /** The key authorization for a token, while an order of the name is in progress. */
  answer(name: string, token: string): string | undefined {
    return this.#wanted.get(name)?.answers.get(token);
  }

  /** Begins the orders that are due, as many as may be; its own timer calls it, too. */
  look(): void {
    if (!this.#running) return;
    const now = this.#now();
    this.#begun = this.#begun.filter((at) => at > now - HOUR_MS);
    // Names that never failed go first, so that many failing names of one client do not delay others.
    const due = Array.from(this.#wanted.values()).filter(({ nextAt, ordering }) => !ordering && nextAt !== undefined && nextAt <= now)
      .toSorted((a, b) => a.failures - b.failures || Number(a.nextAt) - Number(b.nextAt));
    for (const wanted of due) {
      if (now < this.#pausedUntil || this.#orders.size >= this.#timing.atOnce || this.#begun.length >= this.#timing.perHour) break;
      this.#begun.push(now);
      const order = this.#order(wanted).catch((error: unknown) => this.#log.error({ name: wanted.name, err: error }, 'the state of an ACME order could not be stored')).finally(() => {
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
    // A clock that was wrong then must not put off the order for years.
    wanted.nextAt = attempt ? Math.min(attempt.nextAt, this.#now() + this.#timing.longestBackoffMs) : renewalOf(facts, this.#now());
    this.onChange(wanted.name);
    this.look();
  }

  async #order(wanted: Wanted): Promise<void> {
    const { name, over: { signal } } = wanted;
    const before = { failures: wanted.failures, problem: wanted.problem, nextAt: wanted.nextAt ?? 0 };
    wanted.ordering = true;
    this.onChange(name);
    try {
      // Stored before it begins: a server that crashes again and again must not order again and again.
      this.#files.saveAttempt(name, this.#afterFailure(before.failures, 'the order was broken off', 0));
      const { key, chain } = await this.#authority.order(name, (token, answer) => wanted.answers.set(token, answer), signal);
      signal.throwIfAborted();
      wanted.facts = this.#files.saveCertificate(name, key, chain);
      await this.#files.forgetAttempt(name);
      Object.assign(wanted, { failures: 0, problem: '', nextAt: renewalOf(wanted.facts, this.#now()) });
      this.#log.info({ name, expiresAt: wanted.facts.validTo }, 'a certificate was issued by ACME');
    } catch (error) {
      // A server that is stopped gracefully continues the order at the next start. If the name is no longer needed, the wait applies if it returns.
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
    // It may be about this name only, so the others don't wait for long.
    if (known && error.reason === 'rateLimited') this.#pausedUntil = this.#now() + Math.min(Math.max(retryAfterMs, this.#timing.backoffMs), HOUR_MS);
    const attempt = this.#afterFailure(wanted.failures, problem, retryAfterMs);
    Object.assign(wanted, attempt);
    this.#log.warn({ name: wanted.name, failures: attempt.failures, nextAt: new Date(attempt.nextAt), err: known ? undefined : error }, `no ACME certificate: ${problem}`);
    this.#files.saveAttempt(wanted.name, attempt);
  }

  /** Exponential backoff with up to a fifth of jitter, so that many names don't retry together. */
  #afterFailure(failures: number, problem: string, retryAfterMs: number) {
    const { backoffMs, longestBackoffMs } = this.#timing;
    const wait = Math.min(backoffMs * 2 ** Math.min(failures, 30) * (1 + Math.random() / 5), longestBackoffMs);
    return { failures: failures + 1, problem, nextAt: this.#now() + Math.max(wait, Math.min(retryAfterMs, 7 * DAY_MS)) };
  }

  async #restore(name: string, before: { readonly failures: number; readonly problem: string; readonly nextAt: number }): Promise<void> {
    if (before.failures === 0) await this.#files.forgetAttempt(name);
    else this.#files.saveAttempt(name, before);
  }

  #inBackground(work: Promise<void>): void {
    work.catch((error: unknown) => this.#log.error({ err: error }, 'the ACME certificates could not be maintained'));
  }
}

/** When a certificate is due: at two thirds of its lifetime; at once where there is none. */
function renewalOf(facts: CertificateFacts | undefined, now: number): number {
  if (!facts) return now;
  const from = facts.validFrom.getTime();
  return from + (facts.validTo.getTime() - from) * 2 / 3;
}
