import type { Logger } from 'pino';
import type { Attempts, Suspicion } from '../../rules/attempts.ts';
import { FailureLimit } from '../../rules/failure-limit.ts';
import type { Change, Changes } from '../changes.ts';

/** Entries of wrong guesses and of lockouts, all sources together: strangers with any number of addresses can't fill the log. */
const perHour = { allowed: 100, windowMs: 3_600_000, sources: 2 };

/** Tells of wrong guesses and lockouts as of other changes, so that they get into the audit log. @param now ms since the epoch */
export function tellOfGuesses({ attempts, changes, log, now }: { readonly attempts: Attempts; readonly changes: Changes; readonly log: Logger; readonly now: () => number }): void {
  const told = new FailureLimit(perHour);
  attempts.watch((suspicion) => {
    const { news, credential, address } = suspicion;
    if (news === 'lockout') log.warn({ credential, address }, 'too many wrong guesses: locked out for a while');
    if (told.wait(news, now()) > 0) return;
    told.add(news, now());
    // Not awaited: whoever guesses learns nothing from the time it takes.
    changes.publish(changeOf(suspicion, new Date(now()))).catch((error: unknown) => log.error({ err: error }, 'a wrong guess could not be written down'));
  });
}

function changeOf(suspicion: Suspicion, at: Date): Change {
  const { credential, address, name } = suspicion;
  const made = { caller: { kind: 'anonymous', address }, at, action: 'create' } as const;
  return suspicion.news === 'lockout'
    ? { ...made, resource: 'lockout', after: suspicion.lockout }
    : { ...made, resource: 'failedAttempt', after: { credential, name } };
}
