import { isHeaderLine, isHostHeader } from '../../rules/header-line.ts';
import { invalidInput } from '../errors.ts';
import { textLength, textOf } from '../input.ts';

/**
 * Headers as they are stored: `Name: value`, one a line, blank lines dropped.
 * @throws {AditError} INVALID_INPUT for a line that is none: it could smuggle a request of its own to the target
 */
export function headersOf(field: string, value: readonly string[] | null | undefined): string | undefined {
  if (value === null || value === undefined) return undefined;
  const entries = value.map((text) => text.split(/\r?\n/).map((line) => line.trim()).filter((line) => line !== ''));
  const lines = entries.flat();
  const text = textOf(field, lines.join('\n'), textLength);
  const line = lines.findIndex((one) => !isHeaderLine(one)) + 1;
  // Not the line itself: headers carry credentials.
  if (line > 0) throw invalidInput(`${field}.${entries.findIndex((own) => own.some((one) => !isHeaderLine(one)))}`, `line ${line} is not Name: value`, { line });
  return text;
}

/** The Host header that the target is to see. @throws {AditError} INVALID_INPUT when it can't be one */
export function hostChangeOf(field: string, value: string | null | undefined): string | undefined {
  const text = textOf(field, value)?.trim();
  if (text !== undefined && /[\s\p{Cc}]/u.test(text)) throw invalidInput(field, 'holds a blank or a control character');
  if (text !== undefined && !isHostHeader(text)) throw invalidInput(field, 'is not ASCII: write an international name in its form that begins with xn--');
  return text;
}
