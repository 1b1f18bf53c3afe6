import { STATUS_CODES } from 'node:http';
import { type Field, formatHead } from './head.ts';

/** How an answer is given. */
export interface AnswerOptions {
  /** Of the request: HEAD gets no page. */
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
    { name: 'Content-Type', value: 'text/plain; charset=utf-8' },
    { name: 'Content-Length', value: String(page.length) },
    { name: 'Cache-Control', value: 'no-store' },
    ...fields,
    ...(closes ? [{ name: 'Connection', value: 'close' }] : []),
  ]);
  return method === 'HEAD' ? head : Buffer.concat([head, page]);
}
