import { TextDecoder } from 'node:util';
import { readWhole } from './pieces.ts';

/** The keys of an nps.conf, or an npc.conf without its sections: `key=value` lines, keys in lower case. */
export class NpsConf {
  readonly #values: ReadonlyMap<string, string>;

  constructor(values: ReadonlyMap<string, string>) {
    this.#values = values;
  }

  /** The value of a key; "" = it is missing or empty. */
  text(key: string): string {
    return this.#values.get(key) ?? '';
  }

  /** Whether a key is set to a false value. */
  isOff(key: string): boolean {
    return ['false', '0', 'f', 'no', 'off'].includes(this.text(key).toLowerCase());
  }

  /** Whether a key is set to a true value. */
  isOn(key: string): boolean {
    return ['true', '1', 't', 'yes', 'on'].includes(this.text(key).toLowerCase());
  }

  /** All keys. */
  keys(): string[] {
    return [...this.#values.keys()];
  }
}

/** Reads a configuration file as text. @throws {Error} with the problem */
export function readConfText(file: string): string {
  const bytes = readWhole(file);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Error('is not UTF-8');
  }
}

/** A line that is neither a comment nor `key=value`, or that sets a key again. */
export interface ConfProblem {
  readonly line: number;
  /** The key that is set again. */
  readonly key?: string;
  readonly text: string;
}

/** Parses `key=value` lines; the first value of a key counts. @param problems collects invalid lines and duplicate keys */
export function parseConf(text: string, problems: ConfProblem[]): NpsConf {
  const values = new Map<string, string>();
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue;
    const equals = line.indexOf('=');
    if (equals <= 0) {
      problems.push({ line: index + 1, text: 'is neither key=value nor a comment' });
      continue;
    }
    const key = line.slice(0, equals).trim().toLowerCase();
    if (values.has(key)) problems.push({ line: index + 1, key, text: `${key} is set a second time` });
    else values.set(key, line.slice(equals + 1).trim());
  }
  return new NpsConf(values);
}
