import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, Order } from 'acme-client';
import * as z from 'zod';
import { answerOf, AcmeProblem } from './acme-problem.ts';
import type { AcmeFiles } from './files.ts';

/** Timeout of one answer of the authority, in ms. */
const ANSWER_MS = 20_000;
/** Timeout of a whole order, in ms. */
const ORDER_MS = 5 * 60_000;
/** The first and the longest interval between polls of an order, in ms. */
const POLL_MS = { first: 250, longest: 5000 } as const;
const MAX_ANSWER_BYTES = 1024 * 1024;

/** The certificate authority, and the account. */
export interface AuthorityOptions {
  /** Its directory (RFC 8555, 7.1.1). */
  readonly directory: string;
  /** The contact address for the authority; "" = none. */
  readonly email: string;
  /** PEM of the CA that issued the authority's own TLS certificate; undefined = Node's default CAs. */
  readonly ca?: string;
}

/** Publishes the answer to a challenge under its token. When it resolves, the authority may ask any server for it. */
export type Present = (token: string, answer: string) => Promise<void>;

/** Orders certificates of one certificate authority (RFC 8555). */
export class CertificateAuthority {
  readonly #options: AuthorityOptions;
  readonly #files: AcmeFiles;
  readonly #closing = new AbortController();
  #opening: Promise<Client> | undefined;

  constructor(options: AuthorityOptions, files: AcmeFiles) {
    this.#options = options;
    this.#files = files;
  }

  /**
   * Orders a certificate for a name.
   * @throws {AcmeProblem} the authority's answer; another error if it could not be reached
   */
  async order(name: string, present: Present, stopped: AbortSignal): Promise<{ readonly key: string; readonly chain: string }> {
    // Not AbortSignal.any with AbortSignal.timeout: Node 20 forgets that timeout when garbage is collected.
    const ended = new AbortController();
    const end = (): void => ended.abort();
    const timer = setTimeout(end, ORDER_MS);
    stopped.addEventListener('abort', end);
    if (stopped.aborted) end();
    try {
      return await this.#order(name, present, await this.#client(stopped), ended.signal);
    } finally {
      clearTimeout(timer);
      stopped.removeEventListener('abort', end);
    }
  }

  async #order(name: string, present: Present, client: Client, signal: AbortSignal): Promise<{ readonly key: string; readonly chain: string }> {
    const { crypto } = await import('acme-client');
    const order = await client.createOrder({ identifiers: [{ type: 'dns', value: name }] });
    for (const authorization of await client.getAuthorizations(order)) {
      if (authorization.status === 'valid') continue;
      const challenge = authorization.challenges.find(({ type }) => type === 'http-01');
      if (!challenge) throw new Error('the certificate authority offers no http-01 challenge');
      signal.throwIfAborted();
      await present(challenge.token, await client.getChallengeKeyAuthorization(challenge));
      await client.completeChallenge(challenge);
    }
    await settled(client, order, ['ready', 'valid'], signal);
    const key = await crypto.createPrivateEcdsaKey('P-256');
    const [, csr] = await crypto.createCsr({ altNames: [name] }, key);
    await client.finalizeOrder(order, csr);
    const done = await settled(client, order, ['valid'], signal);
    return { key: key.toString(), chain: await client.getCertificate(done) };
  }

  /** Created at the first order; if that fails, the next order tries again. */
  async #client(stopped: AbortSignal): Promise<Client> {
    this.#opening ??= this.#open(stopped);
    try {
      return await this.#opening;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }

  async #open(stopped: AbortSignal): Promise<Client> {
    const { directory: directoryUrl, email, ca } = this.#options;
    const { axios, Client: AcmeClient, crypto } = await import('acme-client'); // most servers don't need it
    // The library's HTTP client is shared, and its own retries would delay an order for minutes. Our own retries come later.
    Object.assign(axios.defaults, {
      timeout: ANSWER_MS,
      maxContentLength: MAX_ANSWER_BYTES,
      signal: this.#closing.signal,
      httpsAgent: ca === undefined ? undefined : new https.Agent({ ca }),
    });
    axios.interceptors.response.clear();
    // The library configures its HTTP client so that every answer is an error.
    axios.interceptors.response.use(null, answerOf);
    const known = await this.#files.account();
    stopped.throwIfAborted();
    if (known) return new AcmeClient({ directoryUrl, accountKey: known.key, accountUrl: known.url });
    const accountKey = await crypto.createPrivateEcdsaKey('P-256');
    const client = new AcmeClient({ directoryUrl, accountKey });
    await client.createAccount({ termsOfServiceAgreed: true, ...(email !== '' && { contact: [`mailto:${email}`] }) });
    await this.#files.saveAccount({ key: accountKey.toString(), url: client.getAccountUrl() });
    return client;
  }

  /** Aborts all requests to the authority. */
  close(): void {
    this.#closing.abort();
  }

  /** Forgets an account that the authority no longer knows: the next order creates a new one. */
  async forgetAccount(): Promise<void> {
    this.#opening = undefined;
    await this.#files.forgetAccount();
  }
}

/** Waits until an order has one of the `wanted` statuses. @throws {AcmeProblem} when the order is invalid */
async function settled(client: Client, order: Order, wanted: readonly Order['status'][], signal: AbortSignal): Promise<Order> {
  for (let ms: number = POLL_MS.first;; ms = Math.min(2 * ms, POLL_MS.longest)) {
    const now = await client.getOrder(order);
    if (wanted.includes(now.status)) return now;
    if (now.status === 'invalid') throw await whyInvalid(client, now);
    await sleep(ms, undefined, { signal });
  }
}

const failure = z.object({ error: z.object({ detail: z.string(), type: z.string().default('') }) });

/** The error of the challenge that failed says what the authority saw. */
async function whyInvalid(client: Client, order: Order): Promise<AcmeProblem> {
  const parts: unknown[] = (await client.getAuthorizations(order)).flatMap(({ challenges }) => challenges);
  for (const part of [...parts, order]) {
    const { success, data } = failure.safeParse(part);
    if (success) return new AcmeProblem(data.error.detail, data.error.type, 0);
  }
  return new AcmeProblem('the certificate authority refused the order', '', 0);
}
