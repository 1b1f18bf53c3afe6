/** A member of a {@link UseOrder}, which alone changes it. */
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

/** Members in the order in which they were used last. Every operation takes the same short time, and none allocates. */
export class UseOrder<T> {
  #oldest: Place<T> | undefined;
  #newest: Place<T> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Whoever was not used for longest. */
  get oldest(): T | undefined {
    return this.#oldest?.member;
  }

  /** Adds one that is in no order. */
  add(place: Place<T>): void {
    this.#size++;
    this.#append(place);
  }

  /** Says that a member is in use now. */
  use(place: Place<T>): void {
    if (place === this.#newest) return;
    this.#cut(place);
    this.#append(place);
  }

  /** Takes a member out. */
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
