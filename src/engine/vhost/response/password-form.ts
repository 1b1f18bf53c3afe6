import * as z from 'zod';
import { Dechunker } from '../../http/dechunk.ts';
import { listOf, valuesOf } from '../../http/field.ts';
import type { RequestHead } from '../../http/head.ts';
import { formTo, PASSWORD_PATH, acceptedResponse } from './password-page.ts';
import type { OwnResponse } from './own-response.ts';
import type { Refusal } from '../../../rules/visitor-refusals.ts';
import { prefersJson, type RefusalForm } from './refusal.ts';
import type { RequestPlace } from '../request/request-place.ts';
import type { Responder } from '../request/responder.ts';

/** The path to which programs of the NPS family send the password (contract 4.9). Used only for refused visitors, so it hides no path of the target. */
const FAMILY_PATH = '/authIp';
/** Longest body, in bytes. */
const MAX_BODY = 4096;

/** A visitor's request that carries the password. */
export interface PasswordRequest {
  readonly head: RequestHead;
  readonly place: RequestPlace;
  /** Tries a password. */
  readonly say: (password: string) => 'right' | 'wrong' | 'wait';
}

/** The answer to a password request. */
export type PasswordAnswer =
  | { readonly response: OwnResponse }
  | { readonly refusal: Refusal; readonly form: Omit<RefusalForm, 'id'> };

/** Whether a request carries the password. @param turnedAway the visitor's address is not allowed yet */
export function isPasswordRequest({ method }: RequestHead, { path }: RequestPlace, turnedAway: boolean): boolean {
  if (method !== 'POST') return false;
  const [location = ''] = path.split('?', 1);
  return location === PASSWORD_PATH || (turnedAway && location === FAMILY_PATH);
}

const PasswordFields = z.object({ password: z.string().optional(), pass: z.string().optional(), to: z.string().optional() });

const outcomes = { right: undefined, wrong: 'wrongPassword', wait: 'tooManyTries' } as const;

/** Reads a password request and answers it. */
export class PasswordForm implements Responder {
  readonly #request: PasswordRequest;
  readonly #answer: (answer: PasswordAnswer) => void;
  readonly #dechunker: Dechunker | undefined;
  #body = Buffer.alloc(0);
  #tooLong = false;

  /** @param answer called once, when the whole request is here */
  constructor(request: PasswordRequest, answer: (answer: PasswordAnswer) => void) {
    this.#request = request;
    this.#answer = answer;
    this.#dechunker = listOf(request.head.fields, 'transfer-encoding').length > 0 ? new Dechunker() : undefined;
  }

  send(piece: Buffer): boolean {
    const data = this.#dechunker ? this.#dechunker.push(piece) : piece;
    this.#tooLong ||= this.#body.length + data.length > MAX_BODY;
    if (!this.#tooLong) this.#body = Buffer.concat([this.#body, data]);
    return true;
  }

  requestSent(): void {
    const { head, place, say } = this.#request;
    const given = this.#tooLong || !isOwn(head) ? {} : read(head, this.#body.toString('utf8'));
    const [password, to] = [given.password ?? given.pass, pathOf(given.to)];
    const refusal = password === undefined ? 'notListed' : outcomes[say(password)];
    // The family's programs expect JSON without an Accept field for it.
    const json = prefersJson(head.fields) || isJson(head.fields) || place.path.startsWith(FAMILY_PATH);
    if (refusal) this.#answer({ refusal, form: { json, headOnly: false, form: formTo(to) } });
    else this.#answer({ response: acceptedResponse(to, json) });
  }

  finish(): void {
    // It never changes the protocol.
  }

  resume(): void {
    // Its answer is written at once.
  }

  silent(): void {
    // It answers at once.
  }

  close(): void {
    // It holds nothing.
  }
}

/** Whether the request is same-origin, so not sent by another site in the visitor's browser (CSRF). Programs other than browsers send no such fields. */
function isOwn({ fields }: RequestHead): boolean {
  const [site] = valuesOf(fields, 'sec-fetch-site');
  const [origin] = valuesOf(fields, 'origin');
  const [host = ''] = valuesOf(fields, 'host');
  return (site === undefined || site === 'same-origin' || site === 'none')
    && (origin === undefined || origin.toLowerCase().replace(/^https?:\/\//, '') === host.toLowerCase());
}

function isJson(fields: RequestHead['fields']): boolean {
  return /^application\/json\b/i.test(valuesOf(fields, 'content-type')[0] ?? '');
}

function read({ fields }: RequestHead, body: string): z.output<typeof PasswordFields> {
  if (isJson(fields)) return PasswordFields.safeParse(parsed(body)).data ?? {};
  const form = new URLSearchParams(body);
  return PasswordFields.parse({ password: form.get('password') ?? undefined, pass: form.get('pass') ?? undefined, to: form.get('to') ?? undefined });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // not JSON
  }
}

/** A path of this host, and nothing that a browser interprets as another host (`//other`, `/\other`). */
function pathOf(text = '/'): string {
  return text.length <= 2048 && /^\/(?![/\\])[\x21-\x7e]*$/.test(text) ? text : '/';
}
