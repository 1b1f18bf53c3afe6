import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import type { DifferentSettings } from '../face.ts';

/** What a node says of its settings. */
export interface NodeSettings {
  /** When it was started, by the database's clock, in ms since the epoch. */
  readonly startedAt: number;
  /** A hash of each setting that must be the same on all nodes. */
  readonly settings: Readonly<Record<string, string>>;
}

/** Compares the settings that must be the same on all nodes. */
export class ComparedSettings {
  readonly #name: string;
  /** Those of this node. */
  readonly own: NodeSettings;
  readonly #log: Logger;
  readonly #different = new Map<string, DifferentSettings>();

  /** @param name of this node */
  constructor(name: string, own: NodeSettings, log: Logger) {
    this.#name = name;
    this.own = own;
    this.#log = log;
  }

  /** Another node says what it has. A difference is logged once. */
  compare(node: string, { startedAt, settings }: NodeSettings): void {
    const { startedAt: ownStart, settings: own } = this.own;
    // A node of another version may have others.
    const names = Object.keys(own).filter((key) => settings[key] !== undefined && settings[key] !== own[key]);
    const different = { node, settings: names, isOlder: startedAt === ownStart ? node < this.#name : startedAt < ownStart };
    const isNews = !isDeepStrictEqual(this.#different.get(node)?.settings ?? [], names);
    this.#different.set(node, different);
    if (!isNews) return;
    if (names.length === 0) this.#log.info({ node }, 'another server has the same settings as this one again');
    else {
      this.#log.warn(
        { node, settings: names },
        `settings that must be the same on all servers differ from those of another one${
          different.isOlder ? ': this one, which was started later, is not ready' : ''
        }`,
      );
    }
  }

  /** The differences. @param counts whether a node counts: it can be reached */
  differences(counts: (node: string) => boolean): readonly DifferentSettings[] {
    return [...this.#different.values()].filter(({ node, settings }) => settings.length > 0 && counts(node));
  }
}
