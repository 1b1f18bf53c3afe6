import { Field } from '../../http/field.ts';
import type { RequestHead } from '../../http/head.ts';
import type { OwnResponse } from './own-response.ts';
import type { RequestPlace } from '../request/request-place.ts';

/**
 * The path that the page sends the password to. A name below /.well-known does not collide with others by accident (RFC 8615), and only
 * POST to it, of hosts whose client accepts visitors by a password, is not the target's.
 */
export const PASSWORD_PATH = '/.well-known/adit/let-in';

/** The form of the page, with the path to return to afterwards. */
export function formFor({ method }: Pick<RequestHead, 'method'>, { path }: RequestPlace): string {
  const to = (method === 'GET' || method === 'HEAD') && !path.startsWith(PASSWORD_PATH) ? path : '/';
  return formTo(to);
}

/** The same after a failed attempt. @param to a path of this host */
export function formTo(to: string): string {
  return `<form method="post" action="${PASSWORD_PATH}"><input type="hidden" name="to" value="${escaped(to)}">`
    + '<label>Password <input type="password" name="password" required autofocus autocomplete="off"></label> <button>Continue</button></form>';
}

/** The answer to the right password: a redirect back, or JSON (contract 4.9). */
export function acceptedResponse(to: string, json: boolean): OwnResponse {
  const body = json ? JSON.stringify({ success: true, message: 'Requests from your address are allowed now.' }) : '';
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
