import { remember } from '../../rules/remember.ts';
import { HttpSyntaxError } from './syntax-error.ts';

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** No control characters except the tab, and no characters beyond one byte. */
const printable = /^[\t\x20-\x7e\x80-\xff]*$/;
const unprintable = /[^\t\x20-\x7e\x80-\xff]/g;

/**
 * A field of a head or trailer; each character of the value is one byte (Latin-1). Only the methods of this class create fields, so that
 * no field contains a line break, not even after conversion to the low byte of each character (U+010D becomes CR).
 */
export class Field {
  readonly name: string;
  readonly value: string;
  /** A private member makes the type nominal: an object of the same shape is not a field. */
  readonly #lower: string;

  private constructor(name: string, lower: string, value: string) {
    this.name = name;
    this.#lower = lower;
    this.value = value;
  }

  /** The name in lower case. */
  get lower(): string {
    return this.#lower;
  }

  /** The name as CGI and similar interfaces see it, where `X_Real_IP` and `X-Real-IP` are the same variable: in lower case, with `-` for `_`. */
  get variable(): string {
    return variableName(this.#lower);
  }

  /** Parses one line of a head or trailer, without its line end; spaces around the value are removed. @throws {HttpSyntaxError} */
  static parse(line: string): Field {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0));
    // This also rejects spaces before the colon, and continuation lines.
    const lower = lowerCase(name);
    if (lower === '') throw new HttpSyntaxError('a header field is malformed');
    const value = trim(line, colon + 1);
    if (!printable.test(value)) throw new HttpSyntaxError('a header field holds control characters');
    return new Field(name, lower, value);
  }

  /** A field received in parts, as over HTTP/2, with spaces around the value removed; undefined = invalid. */
  static received(name: string, value: string): Field | undefined {
    const lower = lowerCase(name);
    return lower === '' || !printable.test(value) ? undefined : new Field(name, lower, trim(value, 0));
  }

  /** A field of our own. @param value one character for each byte (rules/octets.ts) @throws {TypeError} when the name can't be one */
  static of(name: string, value: string): Field {
    const lower = lowerCase(name);
    if (lower === '') throw new TypeError('not the name of a field');
    return new Field(name, lower, lineText(value));
  }
}

/** A part of a line in a head: characters that are not allowed in a line become spaces (RFC 9110, 5.5). */
export function lineText(text: string): string {
  return printable.test(text) ? text : text.replaceAll(unprintable, ' ');
}

/** The name of a field in lower case; "" = it can't be one. */
const lowerCase = remember((name) => (token.test(name) ? name.toLowerCase() : ''));

function variableName(lower: string): string {
  return lower.includes('_') ? lower.replaceAll('_', '-') : lower;
}

/** The values of all fields of that name, in their order. @param name in lower case */
export function valuesOf(fields: readonly Field[], name: string): string[] {
  const values = [];
  for (const field of fields) {
    if (field.lower === name) values.push(field.value);
  }
  return values;
}

/** The elements of a comma-separated field, in lower case, without empty ones. @param name in lower case */
export function listOf(fields: readonly Field[], name: string): string[] {
  const list = [];
  for (const value of valuesOf(fields, name)) {
    for (const part of value.split(',')) {
      const item = trim(part, 0).toLowerCase();
      if (item !== '') list.push(item);
    }
  }
  return list;
}

/**
 * Removes spaces and tabs from both ends of the rest of a line: no other whitespace, which String.trim removes but other programs don't, and
 * not in quadratic time, as a regular expression may.
 */
function trim(line: string, from: number): string {
  let [start, end] = [from, line.length];
  while (start < end && isBlank(line.charCodeAt(start))) start++;
  while (end > start && isBlank(line.charCodeAt(end - 1))) end--;
  return line.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
