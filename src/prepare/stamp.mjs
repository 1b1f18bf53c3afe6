import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Why a step has to run, or undefined when what it makes is there and was made from these very inputs. Contents decide, not times, so that
 * a fresh checkout of the same files counts as the same. Inputs and outputs are absolute paths.
 */
export function staleReason(step, { root, stamps }) {
  const missing = step.outputs().find((file) => !existsSync(file));
  if (missing !== undefined) return `${path.relative(root, missing)} is missing`;
  const before = readStamp(path.join(stamps, `${step.name}.json`));
  const now = hashes(step, root);
  const [changed, ...more] = Object.keys({ ...before, ...now }).filter((file) => before[file] !== now[file]);
  return changed && `${changed}${more.length === 0 ? '' : ` and ${more.length} more`} changed`;
}

/** Runs a step and remembers what it was made from. */
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
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return {}; // missing, or cut off while it was written: everything counts as changed
  }
}
