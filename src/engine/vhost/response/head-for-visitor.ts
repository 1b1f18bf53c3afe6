import { Field, listOf } from '../../http/field.ts';
import { formatHead, formatTrailer, type ResponseHead } from '../../http/head.ts';
import { PlainResponseHead } from '../../http/plain-head.ts';
import { fieldsForVisitor } from '../target/request-fields.ts';

/** The properties of a request that determine the head of its response. */
export interface ForVisitor {
  /** The y of HTTP/1.y that the visitor speaks. */
  readonly minor: 0 | 1;
  /** The visitor's connection ends with the response. */
  readonly closes: boolean;
  /** What is sent with the head. */
  readonly body?: Buffer;
}

const NOTHING = Buffer.alloc(0);
const CONNECTION_CLOSE = Field.of('Connection', 'close');
const [END, CLOSING_END] = [formatTrailer([]), formatTrailer([CONNECTION_CLOSE])];

/** Writes the head that a visitor gets of a target's response. */
export function headForVisitor(head: ResponseHead, { minor, closes, body }: ForVisitor): Buffer {
  if (head instanceof PlainResponseHead && minor === 1) return head.passedOn(NOTHING, closes ? CLOSING_END : END, body);
  const { status, reason } = head;
  const fields = fieldsForVisitor(head.fields, { status, minor });
  if (closes) fields.push(CONNECTION_CLOSE);
  return formatHead(`HTTP/1.1 ${status} ${reason}`, fields, body);
}

/** Whether the target's connection takes another request after the response. */
export function staysOpen(head: ResponseHead): boolean {
  if (head instanceof PlainResponseHead) return !head.closes;
  const options = listOf(head.fields, 'connection');
  return head.minor === 1 ? !options.includes('close') : options.includes('keep-alive');
}
