import type { Caller } from '../../rules/caller.ts';
import { cleanIpList, joinIpList } from '../../rules/ip-list.ts';
import { malformedTarget, targetLines } from '../../rules/targets.ts';
import { invalidInput } from '../errors.ts';

/** Maximum length of a remark, a name or another single-line text, in characters (contract D32). */
export const lineLength = 255;
/** Maximum length of headers or targets, in characters (contract D32). */
export const textLength = 16 * 1024;
/** Maximum length of a list of addresses in characters, by caller: administrators keep blocklists of whole networks. */
const ipListLength = { administrator: 1024 * 1024, other: 64 * 1024 };
/** Maximum length of a path, as in Linux. */
export const pathLength = 4096;

/** The value of an optional input field: null is the same as absent, unless the field's description says otherwise. */
type Given<T> = T | null | undefined;

/**
 * A text in its stored form; undefined = not given.
 * @throws {AditError} INVALID_INPUT if it is too long or contains NUL, which PostgreSQL can't store
 */
export function textOf(field: string, value: Given<string>, most: number = lineLength): string | undefined {
  if (value === null || value === undefined) return undefined;
  // A code point is one or two units, so most texts need no counting.
  if (value.length > most && (value.length > 2 * most || Array.from(value).length > most)) {
    throw invalidInput(field, `longer than ${most} characters`, { most });
  }
  if (value.includes('\0')) throw invalidInput(field, 'holds a NUL character');
  return value;
}

/** As {@link textOf}, for fields in which blank means "keep" (contract D11, D23). */
export function secretOf(field: string, value: Given<string>): string | undefined {
  return value === '' ? undefined : textOf(field, value);
}

/** A limit; negative counts as 0 = unlimited (contract 2.2). */
export function limitOf(value: Given<number>): number | undefined {
  return value === null || value === undefined ? undefined : Math.max(0, value);
}

/** A list of addresses in its stored form. @throws {AditError} INVALID_INPUT if it is too long for the caller */
export function ipListOf({ kind }: Caller, field: string, value: Given<readonly string[]>): string | undefined {
  return value === null || value === undefined
    ? undefined
    : textOf(field, joinIpList(cleanIpList(value)), ipListLength[kind === 'admin' ? 'administrator' : 'other']);
}

/** Targets in their stored form, one per line. @throws {AditError} INVALID_INPUT for an invalid line, or if they are too long */
export function targetsOf(field: string, value: Given<readonly string[]>): string | undefined {
  if (value === null || value === undefined) return undefined;
  const lines = targetLines(value);
  const text = textOf(field, lines.join('\n'), textLength);
  const line = malformedTarget(lines);
  if (line !== undefined) {
    throw invalidInput(`${field}.${value.findIndex((entry) => targetLines([entry]).includes(line))}`, `"${line.slice(0, 100)}" is not host:port`, {
      line: line.slice(0, 100),
    });
  }
  return text;
}
