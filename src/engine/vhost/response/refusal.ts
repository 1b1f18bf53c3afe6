import { createHash } from 'node:crypto';
import { Field, valuesOf } from '../../http/field.ts';
import type { HttpSyntaxError } from '../../http/syntax-error.ts';
import { type Refusal, refusals } from '../../../rules/visitor-refusals.ts';
import type { OwnResponse } from './own-response.ts';

/** The refusal of a request that is not valid HTTP. */
export function refusalOf({ status }: HttpSyntaxError): Refusal {
  switch (status) {
    case 400:
      return 'malformed';
    case 431:
      return 'tooLarge';
    case 501:
      return 'notImplemented';
    case 505:
      return 'version';
  }
}

/** The form of a refusal. */
export interface RefusalForm {
  /** The id, which is also in the log line with the details. */
  readonly id: string;
  /** The visitor program prefers JSON to a page. */
  readonly json: boolean;
  /** A HEAD request: the same head, no body. */
  readonly headOnly: boolean;
  /** HTML of the password form. */
  readonly form?: string;
}

/** The form for a visitor without a preference. */
export const A_PAGE: Pick<RefusalForm, 'json' | 'headOnly'> = { json: false, headOnly: false };

/** The status of a refusal. */
export function statusOf(refusal: Refusal): number {
  return refusals[refusal].status;
}

/** The whole response: a small plain page, or JSON. */
export function refusalResponse(refusal: Refusal, { id, json, headOnly, form }: RefusalForm): OwnResponse {
  const { status, title, text } = refusals[refusal];
  // The request for a password has the form of the NPS family (contract 4.9).
  const asked = form === undefined ? {} : { success: false };
  const body = json ? JSON.stringify({ ...asked, status, error: title, message: text, id }) : page(title, text, id, form);
  const fields: Field[] = [
    Field.of('Content-Type', json ? 'application/json; charset=utf-8' : 'text/html; charset=utf-8'),
    Field.of('Content-Length', String(Buffer.byteLength(body))),
    Field.of('Cache-Control', 'no-store'),
    Field.of('X-Request-Id', id),
  ];
  // Browsers have no dialog for a form, and show the page.
  if (status === 401) fields.push(Field.of('WWW-Authenticate', refusal === 'unauthorized' ? 'Basic realm="easyProxy"' : 'Form realm="visitors"'));
  if (status === 429 || status === 503) fields.push(Field.of('Retry-After', '5'));
  if (!json) fields.push(Field.of('Content-Security-Policy', policy(form !== undefined)));
  return { status, fields, body: headOnly ? undefined : Buffer.from(body) };
}

const STYLE = 'body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:4rem auto;padding:0 1rem}small{opacity:.6}';
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

function policy(hasForm: boolean): string {
  return `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action ${hasForm ? "'self'" : "'none'"}; base-uri 'none'; frame-ancestors 'none'`;
}

function page(title: string, text: string, id: string, form = ''): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
<style>${STYLE}</style></head>
<body><h1>${title}</h1><p>${text}</p>${form}<p><small>${id}</small></p></body></html>
`;
}

/** Whether the visitor program prefers JSON to a page. */
export function prefersJson(fields: readonly Field[]): boolean {
  const accept = valuesOf(fields, 'accept').join(',').toLowerCase();
  const json = accept.indexOf('json');
  const html = accept.indexOf('text/html');
  return json >= 0 && (html < 0 || json < html);
}
