import type { Logger } from 'pino';
import { AcmeProblem } from './acme-problem.ts';
import type { AcmeTiming } from './acme-timing.ts';
import type { CertificateAuthority } from './certificate-authority.ts';
import { type AcmeAttempt, type AcmeFiles, issuedCertificate } from './files.ts';
import type { OrderBook } from './order-book.ts';
import { mayBegin, NO_ORDERS, withoutChallenge } from './orders.ts';
import { dueAt, renewalOf, type Wanted } from './wanted-name.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** What orders need. */
export interface OrdererParts {
  readonly files: AcmeFiles;
  readonly authority: CertificateAuthority;
  readonly book: OrderBook;
  readonly log: Logger;
  /** ms since the epoch */
  readonly now: () => number;
  readonly timing: AcmeTiming;
  /** Other servers may have to answer the challenges. */
  readonly amongOthers: boolean;
  /** The server stops: orders that it aborts are repeated at the next start. */
  readonly isStopping: () => boolean;
  /** The state of an order has changed. */
  readonly onChange: (name: string) => void;
}

/** Places orders, and stores how they end. */
export class Orderer {
  readonly #parts: OrdererParts;

  constructor(parts: OrdererParts) {
    this.#parts = parts;
  }

  /** @returns false = it was not placed: another server has begun it, or too many others. Rejects if its state could not be stored */
  async place(wanted: Wanted): Promise<boolean> {
    const { name, over: { signal } } = wanted;
    const { failures, problem, lastAt, nextAt = 0 } = wanted;
    const before = { failures, problem, lastAt, nextAt };
    wanted.ordering = true;
    wanted.turn++;
    wanted.lastAt = this.#parts.now();
    this.#parts.onChange(name);
    try {
      if (!await this.#begin(wanted)) {
        wanted.nextAt = undefined;
        return false;
      }
      await this.#complete(wanted);
    } catch (error) {
      // After a graceful stop, the next start repeats the order. If the name was removed, the wait applies when it is added again.
      if (!signal.aborted) await this.#failed(wanted, error);
      else if (this.#parts.isStopping()) await this.#keep(name, before.failures === 0 ? undefined : before);
    } finally {
      wanted.answers.clear();
      wanted.ordering = false;
      this.#parts.onChange(name);
    }
    return true;
  }

  /**
   * Stores that an order begins, so that a server in a crash loop doesn't order again and again, and that no other server does.
   * @returns false = another server has begun it, or too many others
   */
  async #begin(wanted: Wanted): Promise<boolean> {
    const { name, clientId, failures, problem } = wanted;
    const { timing: { longestBackoffMs, perHour }, book } = this.#parts;
    const now = this.#parts.now();
    const brokenOff = this.#afterFailure(wanted, 'the order was broken off', 0);
    return await this.#parts.files.update(name, now, ({ facts, attempt, orders }) => {
      if (orders && (dueAt(facts, attempt, now, longestBackoffMs) > now || !mayBegin(orders, clientId, now, perHour))) {
        book.orders = orders;
        return undefined;
      }
      return {
        attempt: { ...brokenOff, ordering: { failures, problem }, retries: book.retriesOf(name) },
        orders: orders && { ...orders, begun: [...orders.begun, { at: now, clientId }] },
      };
    }) !== undefined;
  }

  async #complete(wanted: Wanted): Promise<void> {
    const { name, over: { signal } } = wanted;
    const { key, chain } = await this.#parts.authority.order(name, (token, answer) => this.#present(wanted, token, answer), signal);
    signal.throwIfAborted();
    const { pem, facts } = issuedCertificate(name, key, chain);
    await this.#parts.files.update(
      name,
      this.#parts.now(),
      ({ orders }) => ({ certificate: pem, attempt: undefined, orders: orders && withoutChallenge(orders, name) }),
    );
    Object.assign(wanted, { facts, failures: 0, problem: '', nextAt: renewalOf(facts, this.#parts.now()) });
    this.#parts.log.info({ name, expiresAt: facts.validTo }, 'a certificate was issued by ACME');
  }

  /** From now on every server can answer the challenge. */
  async #present({ name, answers }: Wanted, token: string, answer: string): Promise<void> {
    answers.set(token, answer);
    if (!this.#parts.amongOthers) return;
    const at = this.#parts.now();
    await this.#parts.files.update(
      name,
      at,
      ({ orders = NO_ORDERS }) => ({ orders: { ...orders, challenges: [...orders.challenges, { name, token, answer, at }] } }),
    );
  }

  async #failed(wanted: Wanted, error: unknown): Promise<void> {
    const known = error instanceof AcmeProblem;
    const retryAfterMs = known ? error.retryAfterMs : 0;
    const problem = error instanceof Error ? error.message : String(error);
    if (known && error.reason === 'accountDoesNotExist') await this.#parts.authority.forgetAccount();
    // The limit may be for this name only, so the other names wait for an hour at most.
    if (known && error.reason === 'rateLimited') {
      this.#parts.book.pauseUntil(this.#parts.now() + Math.min(Math.max(retryAfterMs, this.#parts.timing.backoffMs), HOUR_MS));
    }
    const attempt = this.#afterFailure(wanted, problem, retryAfterMs);
    Object.assign(wanted, attempt);
    this.#parts.log.warn(
      { name: wanted.name, failures: attempt.failures, nextAt: new Date(attempt.nextAt), err: known ? undefined : error },
      `no ACME certificate: ${problem}`,
    );
    await this.#keep(wanted.name, attempt);
  }

  /** Exponential backoff with up to a fifth of jitter, so that many names don't retry together. */
  #afterFailure({ failures, lastAt }: Wanted, problem: string, retryAfterMs: number): AcmeAttempt {
    const { backoffMs, longestBackoffMs } = this.#parts.timing;
    const wait = Math.min(backoffMs * 2 ** Math.min(failures, 30) * (1 + Math.random() / 5), longestBackoffMs);
    return { failures: failures + 1, problem, lastAt, nextAt: this.#parts.now() + Math.max(wait, Math.min(retryAfterMs, 7 * DAY_MS)) };
  }

  /** Stores how an order ended. @param attempt undefined = as if it had not begun */
  async #keep(name: string, attempt: AcmeAttempt | undefined): Promise<void> {
    const { files, now, book } = this.#parts;
    await files.update(name, now(), ({ orders }) => ({
      attempt: attempt && { ...attempt, retries: book.retriesOf(name) },
      orders: orders && withoutChallenge({ ...orders, pausedUntil: Math.max(orders.pausedUntil, book.orders.pausedUntil) }, name),
    }));
  }
}
