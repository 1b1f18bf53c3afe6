import { createHmac } from 'node:crypto';
import type { Context } from '../context.ts';
import { AditError } from '../errors.ts';
import type { ColumnUse } from './columns.ts';

/** What an update is based on. */
export interface Basis {
  /** The version that the caller has read; absent = any. */
  readonly expected?: string | null | undefined;
}

/** How a tunnel or host is updated. */
export interface UpdateOptions extends Basis {
  /** The agent that declared it changes it. */
  readonly noStore?: boolean;
}

/** The description of the argument of updates. */
export const expectedVersion = {
  description: 'The `version` that the change is based on. If the record has changed since, nothing is changed, and the error is CONFLICT. Absent = any.',
} as const;

/** The description of the field of records. */
export const versionField =
  'Identifies the current values of all fields that an update can set, including passwords. Counters and running state do not change it. Send it as `expectedVersion`.';

/** How many characters a version has: enough that two versions of a record differ. */
const characters = 16;

/** The version of a record. @param uses of its columns; only those that an input sets count */
export function versionOf({ settings }: Context, uses: Readonly<Record<string, ColumnUse>>, row: Readonly<Record<string, unknown>>): string {
  return versionOfValues(settings.versionKey, Object.keys(uses).filter((column) => uses[column]?.input !== null).map((column) => row[column]));
}

/**
 * The version of some values. It is keyed, since they may contain passwords: otherwise, callers who may not read secrets could compare guesses with it.
 */
export function versionOfValues(key: string, values: readonly unknown[]): string {
  return createHmac('sha256', key).update(JSON.stringify(values)).digest('base64url').slice(0, characters);
}

/** @param expected absent = any @throws {AditError} CONFLICT if the record has another version now */
export function checkVersion(resource: 'client' | 'tunnel' | 'host' | 'user' | 'settings', current: string, expected: Basis['expected']): void {
  if (expected !== undefined && expected !== null && expected !== current) throw new AditError('CONFLICT', { resource, version: current });
}
