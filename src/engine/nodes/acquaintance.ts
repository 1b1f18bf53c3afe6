/** Which nodes this one can reach, and which of them have told it of all agents that are connected to them. Until then, their clients seem to be away. */
export class Acquaintance {
  readonly #told = new Set<string>();
  readonly #reached = new Set<string>();
  readonly #waiting = new Set<() => void>();

  /** A node has told of all; false = it has connected, and will do so. */
  told(node: string, all: boolean): void {
    this.#note(this.#told, node, all);
  }

  /** A node can be reached, or no longer. */
  reached(node: string, up: boolean): void {
    this.#note(this.#reached, node, up);
  }

  /** Resolves when all of these nodes can be reached and have told of all. @returns those of which that is not so within `ms` */
  async with(nodes: readonly string[], ms: number): Promise<readonly string[]> {
    const missing = (): string[] => nodes.filter((node) => !this.#told.has(node) || !this.#reached.has(node));
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
