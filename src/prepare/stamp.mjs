import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * One thing that is made from files: generated code, the compiled program.
 * @typedef {object} Step
 * @property {string} name names its stamp
 * @property {string} doing what is said while it runs, such as "generating the database clients"
 * @property {() => string[]} inputs the files it is made from, absolute
 * @property {() => string[]} outputs files that exist once it is made, absolute
 * @property {() => Promise<void>} run makes it
 */

/**
 * Why a step has to run, or undefined when what it makes is there and was made from these very inputs. Contents decide, not
 * times, so that a fresh checkout of the same files counts as the same.
 * @param {Step} step
 * @param {{root: string, stamps: string}} where the checkout, and the directory of the stamps
 * @returns {string | undefined}
 */
export function staleReason(step, { root, stamps }) {
  const missing = step.outputs().find((file) => !existsSync(file));
  if (missing !== undefined) return `${path.relative(root, missing)} is missing`;
  const before = readStamp(path.join(stamps, `${step.name}.json`));
  const now = hashes(step, root);
  const changed = [...new Set([...Object.keys(before), ...Object.keys(now)])].filter((file) => before[file] !== now[file]);
  if (changed.length === 0) return undefined;
  return changed.length === 1 ? `${changed[0]} changed` : `${changed[0]} and ${changed.length - 1} more changed`;
}

/**
 * Runs a step and remembers what it was made from.
 * @param {Step} step
 * @param {{root: string, stamps: string}} where
 */
export async function runStep(step, { root, stamps }) {
  const made = hashes(step, root); // before the run: a file that is edited meanwhile makes it stale again
  await step.run();
  mkdirSync(stamps, { recursive: true });
  writeFileSync(path.join(stamps, `${step.name}.json`), JSON.stringify(made));
}

function hashes(step, root) {
  return Object.fromEntries(step.inputs().map((file) => [path.relative(root, file), createHash('sha256').update(readFileSync(file)).digest('hex')]));
}

function readStamp(file) {
  if (!existsSync(file)) return {};
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return {}; // cut off while it was written: everything counts as changed
  }
}
