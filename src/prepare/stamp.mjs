import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Why a step has to run; undefined = its outputs exist and were built from the current inputs. Compares contents instead of times, so that
 * a fresh checkout of the same files counts as unchanged. Inputs and outputs are absolute paths.
 */
export function staleReason(step, { root, stamps }) {
  const missing = step.outputs().find((file) => !existsSync(file));
  if (missing !== undefined) return `${path.relative(root, missing)} is missing`;
  const before = readStamp(path.join(stamps, `${step.name}.json`));
  const now = hashes(step, root);
  const [changed, ...more] = Object.keys({ ...before, ...now }).filter((file) => before[file] !== now[file]);
  return changed && `${changed}${more.length === 0 ? '' : ` and ${more.length} more`} changed`;
}

/** Runs a step and stores the hashes of its inputs. */
export async function runStep(step, { root, stamps }) {
  const made = hashes(step, root); // before the run, so that a file edited meanwhile counts as changed
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
    return {}; // missing or truncated: every input counts as changed
  }
}
