import { cpSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { bundle } from './bundle.mjs';
import { nodeModule, root, run } from './run.mjs';

const src = path.join(root, 'src');
const dist = path.join(root, 'dist');

/** Everything the compiled program is made from: sources and what lies beside them, packages, and of these scripts the one that bundles. */
export function buildInputs() {
  return [...filesBelow(src).filter((file) => !file.endsWith('.mjs')), path.join(root, 'tsconfig.json'), path.join(root, 'package-lock.json'), path.join(root, 'src', 'prepare', 'bundle.mjs')];
}

/** What has to exist for the program to count as built. */
export const buildOutputs = [path.join(dist, 'main.js')];

/** Compiles src into dist. The old dist stays until the new one is whole. */
export async function build() {
  const fresh = path.join(root, '.cache', 'dist');
  const old = path.join(root, '.cache', 'dist.old');
  rmSync(fresh, { recursive: true, force: true });
  rmSync(old, { recursive: true, force: true });
  await run('Compiling', [process.execPath, nodeModule('typescript', 'bin', 'tsc'), '--project', 'tsconfig.json', '--outDir', fresh]);
  for (const file of filesBelow(src).filter((file) => !/\.m?ts$|\.mjs$/.test(file))) {
    cpSync(file, path.join(fresh, path.relative(src, file)));
  }
  await bundle(fresh);
  if (existsSync(dist)) renameSync(dist, old);
  renameSync(fresh, dist);
  rmSync(old, { recursive: true, force: true });
}

function filesBelow(directory) {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .toSorted();
}
