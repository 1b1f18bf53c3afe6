import { type RefusalCause, refusalCauses, type RefusalCount } from '../face.ts';

/** Counts the refused connections of the visitors of clients until they are taken to be stored. Has at most one number for each client and cause. */
export class RefusalTally {
  #counts = new Map<number, Partial<Record<RefusalCause, number>>>();

  add(clientId: number, cause: RefusalCause): void {
    const counts = this.#counts.get(clientId);
    if (counts === undefined) this.#counts.set(clientId, { [cause]: 1 });
    else counts[cause] = (counts[cause] ?? 0) + 1;
  }

  /** What was counted since the last call. */
  take(): RefusalCount[] {
    const taken = this.#counts;
    this.#counts = new Map();
    return [...taken].flatMap(([clientId, counts]) =>
      refusalCauses.flatMap((cause) => counts[cause] === undefined ? [] : [{ clientId, cause, count: counts[cause] }])
    );
  }
}
