/** A record in the list of its client's records. Lists cost two references for each record, and nothing for a client without records. */
export interface Sibling<T> {
  /** undefined = it is the last one. */
  next: T | undefined;
  /** The first one has the last one here. */
  previous: T | undefined;
}

/** Adds a record that is in no list to the end of one. @param first of the list; undefined = it is empty @returns the first one from now on */
export function withSibling<T extends Sibling<T>>(first: T | undefined, added: T): T {
  if (first === undefined) {
    added.previous = added;
    return added;
  }
  const last = first.previous ?? first;
  last.next = added;
  added.previous = last;
  first.previous = added;
  return first;
}

/** Removes a record from its list. @returns the first one from now on; undefined = the list is empty */
export function withoutSibling<T extends Sibling<T>>(first: T | undefined, removed: T): T | undefined {
  const { next, previous } = removed;
  removed.next = undefined;
  removed.previous = undefined;
  if (first === undefined || previous === undefined) return first;
  const rest = removed === first ? next : first;
  if (removed !== first) previous.next = next;
  if (next !== undefined) next.previous = previous;
  else if (rest !== undefined) rest.previous = previous;
  return rest;
}

/** Puts a record in the place of another one. @returns the first one of the list from now on */
export function withSiblingReplaced<T extends Sibling<T>>(first: T, removed: T, added: T): T {
  const { next, previous } = removed;
  const start = removed === first ? added : first;
  added.next = next;
  added.previous = previous === removed ? added : previous;
  if (removed !== first && previous !== undefined) previous.next = added;
  if (next !== undefined) next.previous = added;
  else start.previous = added;
  removed.next = undefined;
  removed.previous = undefined;
  return start;
}

/** The records of a list. The current one may be removed. */
export function* siblings<T extends Sibling<T>>(first: T | undefined): Generator<T> {
  for (let at = first; at !== undefined;) {
    const { next } = at;
    yield at;
    at = next;
  }
}
