import { endurance, isShort } from '../support/endurance.ts';
import { callerGroups, type CallerName, type Target, targetNames, targets } from './world.ts';

/** The least that a caller has to be. */
export type Least = 'administrator' | 'user' | 'client login' | 'wall';

const unknown: ReadonlySet<CallerName> = new Set(['anonymous', 'bad signature', 'expired signature', 'disabled user', 'expired user']);

/** A caller that is not authenticated, or whose access has ended. */
export function isUnknown(caller: CallerName): boolean {
  return unknown.has(caller);
}

export function isAdministrator(caller: CallerName): boolean {
  return caller === 'signature' || caller === 'administrator session' || caller === "administrator's wall token";
}

/** A caller by a token for a display on a wall. */
export function isWall(caller: CallerName): boolean {
  return caller === 'wall token' || caller === "administrator's wall token";
}

/** Whether a known caller is what a call asks for at least. */
export function isAtLeast(caller: CallerName, least: Least): boolean {
  if (least === 'wall') return true;
  if (isWall(caller)) return false;
  if (isAdministrator(caller)) return true;
  return least === 'client login' || (least === 'user' && caller !== 'legacy client login');
}

/** Whether a record is the caller's to use, as far as it is there. */
export function isTheirs(caller: CallerName, target: Target): boolean {
  return isAdministrator(caller) || target === (caller === 'other user' ? "another's" : 'own');
}

/** The user behind a caller; null = an administrator. The legacy client login is client 1's, whose owner is user 1. */
export function userOf(caller: CallerName): number | null {
  if (isAdministrator(caller)) return null;
  return caller === 'other user' ? 2 : 1;
}

/** The ids of what a caller sees of clients, tunnels and hosts alike. */
export function seenBy(caller: CallerName): readonly number[] {
  if (isAdministrator(caller)) return [1, 2, 3];
  return [caller === 'other user' ? 2 : 1];
}

const groups: readonly (readonly CallerName[])[] = callerGroups;

/** What a call is about, and who is treated differently. */
export interface CallToAuthorise {
  /** Its place among all calls. */
  readonly at: number;
  /** What is sent about a record, by its id. */
  readonly sent: (id: number) => string;
  /** Whether a caller is refused, whatever the record is. */
  readonly isRefused: (caller: CallerName) => boolean;
  /** A rule of the call names callers. */
  readonly hasExceptions: boolean;
}

/**
 * Callers, and the owners of the record that a call is about: in the endurance every combination that can make a difference, in `npm run test:slow` enough of them to notice each rule
 * that is missing, in `npm test` one for each rule. A call that names no record is the same for all of them.
 */
export function combinations({ at, sent, isRefused, hasExceptions }: CallToAuthorise): Array<{ readonly caller: CallerName; readonly target: Target }> {
  const different = [...new Map(targetNames.toReversed().map((target) => [sent(targets[target]), target])).values()].toReversed();
  return groups.flatMap((group) => endurance || hasExceptions ? group : group.filter((_caller, n) => n === at % group.length)).flatMap((caller) => {
    const asked = targetsFor(caller, isRefused(caller), at);
    return different.filter((target) => different.length === 1 || asked.includes(target)).map((target) => ({ caller, target }));
  });
}

/**
 * A caller who is refused whatever the record is could only be mistaken for the owner, or for user 3, who is disabled. The owner asks for their own record, and the other user is the one who asks for
 * another's: what the two may do is the same.
 */
function targetsFor(caller: CallerName, isRefused: boolean, at: number): ReadonlyArray<Target | undefined> {
  if (endurance) return isRefused ? ['own', 'unassigned'] : targetNames;
  if (isRefused) return [caller === 'disabled user' ? 'unassigned' : 'own'];
  // The others may do what a user may.
  if (isShort && !isAdministrator(caller) && !isWall(caller)) return groups[1]?.includes(caller) ? ['own', "another's"] : [];
  if (isAdministrator(caller)) return [(['own', "another's", 'unassigned'] as const)[at % 3], 'missing'];
  if (caller === 'other user') return ['own'];
  return groups[1]?.includes(caller) ? ['own', 'unassigned', 'missing'] : ['own', "another's"];
}
