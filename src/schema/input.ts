import type { Caller } from '../rules/caller.ts';
import { cleanIpList, joinIpList } from '../rules/ip-list.ts';
import { malformedTarget, targetLines } from '../rules/targets.ts';
import { invalidInput } from './errors.ts';

/** The most characters of a remark, a name or another text of one line (contract D32). */
export const lineLength = 255;
/** The most characters of headers or targets (contract D32). */
export const textLength = 16 * 1024;
/** The most characters of a list of addresses, by who sets it: administrators keep blacklists of whole networks. */
const ipListLength = { administrator: 1024 * 1024, other: 64 * 1024 };
/** The most characters of a path: what Linux takes. */
export const pathLength = 4096;

/** What an optional input field can be: null is the same as absent, except where a field's description says otherwise. */
type Given<T> = T | null | undefined;

/**
 * A text as it is stored; undefined = not given.
 * @throws {AditError} INVALID_INPUT when it is too long or holds NUL, which PostgreSQL can't store
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

/** As {@link textOf}, for the fields whose blank value means "keep" (contract D11, D23). */
export function secretOf(field: string, value: Given<string>): string | undefined {
  return value === '' ? undefined : textOf(field, value);
}

/** A limit; negative counts as 0 = unlimited (contract 2.2). */
export function limitOf(value: Given<number>): number | undefined {
  return value === null || value === undefined ? undefined : Math.max(0, value);
}

/** A list of addresses as it is stored. @throws {AditError} INVALID_INPUT when it is too long for the caller */
export function ipListOf({ kind }: Caller, field: string, value: Given<readonly string[]>): string | undefined {
  return value === null || value === undefined ? undefined : textOf(field, joinIpList(cleanIpList(value)), ipListLength[kind === 'admin' ? 'administrator' : 'other']);
}

/** Targets as they are stored: one a line. @throws {AditError} INVALID_INPUT for a line that is none, or when they are too long */
export function targetsOf(field: string, value: Given<readonly string[]>): string | undefined {
  if (value === null || value === undefined) return undefined;
  const lines = targetLines(value);
  const text = textOf(field, lines.join('\n'), textLength);
  const line = malformedTarget(lines);
  if (line !== undefined) throw invalidInput(`${field}.${value.findIndex((entry) => targetLines([entry]).includes(line))}`, `"${line.slice(0, 100)}" is not host:port`, { line: line.slice(0, 100) });
  return text;
}
