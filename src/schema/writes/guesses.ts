import type { Logger } from 'pino';
import type { Attempts, Suspicion } from '../../rules/attempts.ts';
import { FailureLimit } from '../../rules/failure-limit.ts';
import { failureNote } from '../../store/database-failure.ts';
import type { Author, MadeChange } from './changes.ts';
import type { Writes } from './writes.ts';

/** Limit of audit entries for wrong guesses, and for lockouts, of all sources together, so that attackers with many addresses can't fill the log. */
const perHour = { allowed: 100, windowMs: 3_600_000, sources: 2 };

/** Publishes wrong guesses and lockouts like other changes, so that they are in the audit log. @param now ms since the epoch */
export function tellOfGuesses(
  { attempts, writes, log, now }: { readonly attempts: Attempts; readonly writes: Writes; readonly log: Logger; readonly now: () => number },
): void {
  const logged = new FailureLimit(perHour);
  attempts.watch((suspicion) => {
    const { news, credential, address } = suspicion;
    if (news === 'lockout') log.warn({ credential, address }, 'too many wrong guesses: locked out for a while');
    if (logged.wait(news, now()) > 0) return;
    logged.add(news, now());
    // Not awaited, so that its duration reveals nothing to the caller.
    const author: Author = { kind: 'anonymous', address };
    writes.run(author, async (_tx, changed) => changed(changeOf(suspicion)), { background: true }).catch((error: unknown) =>
      log.error(failureNote(error), 'a wrong guess could not be stored in the audit log')
    );
  });
}

function changeOf(suspicion: Suspicion): MadeChange {
  const { credential, name } = suspicion;
  return suspicion.news === 'lockout'
    ? { action: 'create', resource: 'lockout', after: suspicion.lockout }
    : { action: 'create', resource: 'failedAttempt', after: { credential, name } };
}
