import { STATUS_CODES } from 'node:http';
import { Field } from './field.ts';
import { formatHead } from './head.ts';

/** How an answer is given. */
export interface AnswerOptions {
  /** The request's method: HEAD gets no page. */
  readonly method?: string | undefined;
  /** The connection ends with it. */
  readonly closes: boolean;
  readonly fields?: readonly Field[];
}

/** An answer of the server's own: a small page of plain text. */
export function plainAnswer(status: number, text: string, { method, closes, fields = [] }: AnswerOptions): Buffer {
  const reason = STATUS_CODES[status] ?? '';
  const page = Buffer.from(`${status} ${reason}\n\n${text}\n`);
  const head = formatHead(`HTTP/1.1 ${status} ${reason}`, [
    Field.of('Content-Type', 'text/plain; charset=utf-8'),
    Field.of('Content-Length', String(page.length)),
    Field.of('Cache-Control', 'no-store'),
    ...fields,
    ...(closes ? [Field.of('Connection', 'close')] : []),
  ]);
  return method === 'HEAD' ? head : Buffer.concat([head, page]);
}
