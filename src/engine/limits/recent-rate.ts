/** Bytes in the last whole second, counted without a clock of its own: any number of connections cost nothing while they are still. */
export class RecentRate {
  #second = 0;
  #bytes = 0;
  #before = 0;

  count(bytes: number): void {
    this.#turn();
    this.#bytes += bytes;
  }

  /** Bytes in the last whole second. */
  get rate(): number {
    this.#turn();
    return this.#before;
  }

  #turn(): void {
    const second = Math.trunc(performance.now() / 1000);
    if (second === this.#second) return;
    this.#before = second === this.#second + 1 ? this.#bytes : 0;
    this.#bytes = 0;
    this.#second = second;
  }
}
