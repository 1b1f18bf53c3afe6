/** A member of a {@link UseOrder}. Only the order changes it. */
export class Place<T> {
  readonly member: T;
  /** @internal */
  older: Place<T> | undefined;
  /** @internal */
  newer: Place<T> | undefined;

  constructor(member: T) {
    this.member = member;
  }
}

/** Members in order of last use. Every operation takes constant time and allocates nothing. */
export class UseOrder<T> {
  #oldest: Place<T> | undefined;
  #newest: Place<T> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The least recently used member. */
  get oldest(): T | undefined {
    return this.#oldest?.member;
  }

  /** Adds a member that is not in any order. */
  add(place: Place<T>): void {
    this.#size++;
    this.#append(place);
  }

  /** Marks a member as used now. */
  use(place: Place<T>): void {
    if (place === this.#newest) return;
    this.#cut(place);
    this.#append(place);
  }

  /** Removes a member. */
  delete(place: Place<T>): void {
    this.#size--;
    this.#cut(place);
  }

  #append(place: Place<T>): void {
    place.older = this.#newest;
    place.newer = undefined;
    if (this.#newest === undefined) this.#oldest = place;
    else this.#newest.newer = place;
    this.#newest = place;
  }

  #cut({ older, newer }: Place<T>): void {
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
  }
}
