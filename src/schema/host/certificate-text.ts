import { isPem } from '../../rules/certificate.ts';
import { invalidInput } from '../errors.ts';
import { pathLength, textOf } from '../input.ts';
import type { Context } from '../context.ts';

/** The most characters of a certificate or key as text (contract D32). */
const pemLength = 64 * 1024;

/**
 * A certificate or key as it is stored: text, or the path of a file on the server, which only an administrator may name: with
 * it others could find out what files there are (contract section 7).
 * @throws {AditError} INVALID_INPUT
 */
export function pemOrPath(context: Context, field: string, value: string | null | undefined): string | undefined {
  if (value === null || value === undefined) return undefined;
  if (isPem(value)) return textOf(field, value, pemLength);
  const path = textOf(field, value.trim(), pathLength);
  if (path !== '' && context.caller.kind !== 'admin') throw invalidInput(field, 'only PEM text is accepted, no file path');
  return path;
}

/** What of a stored certificate or key is told: its path, to administrators; text never (contract 1.4, D16). */
export function pathFor({ caller }: Context, stored: string): string {
  return caller.kind === 'admin' && !isPem(stored) ? stored : '';
}
