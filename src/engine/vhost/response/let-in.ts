import { z } from 'zod';
import { Dechunker } from '../../http/dechunk.ts';
import { listOf, valuesOf } from '../../http/field.ts';
import type { RequestHead } from '../../http/head.ts';
import { formTo, LET_IN_PATH, letInResponse } from './let-in-page.ts';
import type { OwnResponse } from './own-response.ts';
import { prefersJson, type Refusal, type RefusalForm } from './refusal.ts';
import type { RequestPlace } from '../request/request-place.ts';
import type { Responder } from '../request/responder.ts';

/** Where programs of this family say the password (contract 4.9). Only of those who are turned away, so the target loses no path by it. */
const FAMILY_PATH = '/authIp';
/** Longest body, in bytes. */
const MAX_BODY = 4096;

/** A visitor's request to be let in. */
export interface LetInRequest {
  readonly head: RequestHead;
  readonly place: RequestPlace;
  /** What a password is worth. */
  readonly say: (password: string) => 'right' | 'wrong' | 'wait';
}

/** What he is answered. */
export type LetInAnswer =
  | { readonly response: OwnResponse }
  | { readonly refusal: Refusal; readonly form: Omit<RefusalForm, 'id'> };

/** Whether a request is a visitor's who says the password. @param turnedAway he is not let in yet */
export function saysPassword({ method }: RequestHead, { path }: RequestPlace, turnedAway: boolean): boolean {
  if (method !== 'POST') return false;
  const [location = ''] = path.split('?', 1);
  return location === LET_IN_PATH || (turnedAway && location === FAMILY_PATH);
}

const Said = z.object({ password: z.string().optional(), pass: z.string().optional(), to: z.string().optional() });

const judgements = { right: undefined, wrong: 'wrongPassword', wait: 'tooManyTries' } as const;

/** Reads what a visitor says, and has it answered. */
export class LetInForm implements Responder {
  readonly #request: LetInRequest;
  readonly #answer: (answer: LetInAnswer) => void;
  readonly #dechunker: Dechunker | undefined;
  #body = Buffer.alloc(0);
  #tooLong = false;

  /** @param answer called once, when the whole request is here */
  constructor(request: LetInRequest, answer: (answer: LetInAnswer) => void) {
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
    const said = this.#tooLong || !isOwn(head) ? {} : read(head, this.#body.toString('utf8'));
    const [password, to] = [said.password ?? said.pass, pathOf(said.to)];
    const judged = password === undefined ? 'notListed' : judgements[say(password)];
    // The family's programs expect JSON without saying so.
    const json = prefersJson(head.fields) || isJson(head.fields) || place.path.startsWith(FAMILY_PATH);
    if (judged) this.#answer({ refusal: judged, form: { json, headOnly: false, form: formTo(to) } });
    else this.#answer({ response: letInResponse(to, json) });
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

/** Whether the visitor himself sent it, and not another site by his browser. Programs that are no browsers say nothing of that. */
function isOwn({ fields }: RequestHead): boolean {
  const [site] = valuesOf(fields, 'sec-fetch-site');
  const [origin] = valuesOf(fields, 'origin');
  const [host = ''] = valuesOf(fields, 'host');
  return (site === undefined || site === 'same-origin' || site === 'none') && (origin === undefined || origin.toLowerCase().replace(/^https?:\/\//, '') === host.toLowerCase());
}

function isJson(fields: RequestHead['fields']): boolean {
  return /^application\/json\b/i.test(valuesOf(fields, 'content-type')[0] ?? '');
}

function read({ fields }: RequestHead, body: string): z.output<typeof Said> {
  if (isJson(fields)) return Said.safeParse(parsed(body)).data ?? {};
  const form = new URLSearchParams(body);
  return Said.parse({ password: form.get('password') ?? undefined, pass: form.get('pass') ?? undefined, to: form.get('to') ?? undefined });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // says nothing else than that
  }
}

/** A path of this host and nothing that a browser takes for another place (`//other`, `/\other`). */
function pathOf(text = '/'): string {
  return text.length <= 2048 && /^\/(?![/\\])[\x21-\x7e]*$/.test(text) ? text : '/';
}
