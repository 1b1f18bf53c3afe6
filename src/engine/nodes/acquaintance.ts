/** Which nodes this one can reach, and which of them have reported to it all agents that are connected to them. Until then, their clients seem to be away. */
export class Acquaintance {
  readonly #reported = new Set<string>();
  readonly #reached = new Set<string>();
  readonly #waiting = new Set<() => void>();

  /** A node has reported all; false = it has connected, and will do so. */
  reported(node: string, all: boolean): void {
    this.#note(this.#reported, node, all);
  }

  /** A node can be reached, or no longer. */
  reached(node: string, up: boolean): void {
    this.#note(this.#reached, node, up);
  }

  /** Resolves when all of these nodes can be reached and have reported all. @returns those of which that is not so within `ms` */
  async with(nodes: readonly string[], ms: number): Promise<readonly string[]> {
    const missing = (): string[] => nodes.filter((node) => !this.#reported.has(node) || !this.#reached.has(node));
    if (missing().length > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#waiting.add(() => {
          if (missing().length > 0) return;
          clearTimeout(timer);
          resolve();
        });
      });
      this.#waiting.clear();
    }
    return missing();
  }

  #note(nodes: Set<string>, node: string, on: boolean): void {
    if (on) nodes.add(node);
    else nodes.delete(node);
    for (const look of this.#waiting) look();
  }
}
