import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Mutant } from './operators.ts';

/** A mutant that no suite can notice, or need not, and why. */
export interface Explanation {
  readonly file: string;
  /** The changed line, without the blanks around it. */
  readonly line: string;
  readonly change: string;
  readonly why: string;
}

/** Survivors that were looked at one by one. */
const explanations: readonly Explanation[] = [];

/** Why a mutant survives. @param root of the repository */
export function explanationOf({ file, line, change }: Mutant, root: string): Explanation | undefined {
  const text = readFileSync(path.join(root, file), 'utf8').split('\n')[line - 1]?.trim();
  return explanations.find((each) => each.file === file && each.line === text && each.change === change);
}
