import { Field } from '../../http/field.ts';
import type { RequestHead } from '../../http/head.ts';
import type { OwnResponse } from './own-response.ts';
import type { RequestPlace } from '../request/request-place.ts';

/**
 * Where the page has the password sent. A name below /.well-known is registered or made up by nobody else by accident (RFC 8615), and only
 * POST to it, of hosts whose client lets visitors in by a password, is not the target's.
 */
export const LET_IN_PATH = '/.well-known/adit/let-in';

/** The form of the page: what it says of the last try, and where the visitor goes afterwards. */
export function formFor({ method }: Pick<RequestHead, 'method'>, { path }: RequestPlace): string {
  const to = (method === 'GET' || method === 'HEAD') && !path.startsWith(LET_IN_PATH) ? path : '/';
  return formTo(to);
}

/** The same for a visitor who has tried. @param to a path of this host */
export function formTo(to: string): string {
  return `<form method="post" action="${LET_IN_PATH}"><input type="hidden" name="to" value="${escaped(to)}">`
    + '<label>Password <input type="password" name="password" required autofocus autocomplete="off"></label> <button>Let me in</button></form>';
}

/** The answer to the right password: the way back, or JSON (contract 4.9). */
export function letInResponse(to: string, json: boolean): OwnResponse {
  const body = json ? JSON.stringify({ success: true, message: 'Requests from your address are let in now.' }) : '';
  const fields = [
    json ? Field.of('Content-Type', 'application/json; charset=utf-8') : Field.of('Location', to),
    Field.of('Content-Length', String(Buffer.byteLength(body))),
    Field.of('Cache-Control', 'no-store'),
  ];
  return { status: json ? 200 : 303, fields, body: Buffer.from(body) };
}

function escaped(text: string): string {
  return text.replaceAll(/[&"'<>]/g, (character) => `&#${character.charCodeAt(0)};`);
}
