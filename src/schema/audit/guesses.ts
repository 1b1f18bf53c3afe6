import type { Logger } from 'pino';
import type { Attempts, Suspicion } from '../../rules/attempts.ts';
import { FailureLimit } from '../../rules/failure-limit.ts';
import type { Author, MadeChange } from '../changes.ts';
import type { Writes } from '../writes.ts';
import { failureNote } from '../../store/database-failure.ts';

/** Entries of wrong guesses and of lockouts, all sources together: strangers with any number of addresses can't fill the log. */
const perHour = { allowed: 100, windowMs: 3_600_000, sources: 2 };

/** Tells of wrong guesses and lockouts as of other changes, so that they get into the audit log. @param now ms since the epoch */
export function tellOfGuesses({ attempts, writes, log, now }: { readonly attempts: Attempts; readonly writes: Writes; readonly log: Logger; readonly now: () => number }): void {
  const told = new FailureLimit(perHour);
  attempts.watch((suspicion) => {
    const { news, credential, address } = suspicion;
    if (news === 'lockout') log.warn({ credential, address }, 'too many wrong guesses: locked out for a while');
    if (told.wait(news, now()) > 0) return;
    told.add(news, now());
    // Not awaited: whoever guesses learns nothing from the time it takes.
    const stranger: Author = { kind: 'anonymous', address };
    writes.run(stranger, async (_tx, changed) => changed(changeOf(suspicion)), { background: true }).catch((error: unknown) => log.error(failureNote(error), 'a wrong guess could not be written down'));
  });
}

function changeOf(suspicion: Suspicion): MadeChange {
  const { credential, name } = suspicion;
  return suspicion.news === 'lockout'
    ? { action: 'create', resource: 'lockout', after: suspicion.lockout }
    : { action: 'create', resource: 'failedAttempt', after: { credential, name } };
}
