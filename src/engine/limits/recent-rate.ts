/** Bytes in the last whole second, measured without a timer, so idle connections cost nothing. */
export class RecentRate {
  #second = 0;
  #bytes = 0;
  #before = 0;

  count(bytes: number): void {
    this.#roll();
    this.#bytes += bytes;
  }

  /** Bytes in the last whole second. */
  get rate(): number {
    this.#roll();
    return this.#before;
  }

  #roll(): void {
    const second = Math.trunc(performance.now() / 1000);
    if (second === this.#second) return;
    this.#before = second === this.#second + 1 ? this.#bytes : 0;
    this.#bytes = 0;
    this.#second = second;
  }
}
