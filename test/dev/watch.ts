import { readdirSync, statSync, watch } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');
/** Editors write a file in several steps: so long after the last one it counts as saved, in ms. */
const SETTLED_MS = 50;

/**
 * Calls `work` with the path of a source that was saved, one call at a time; files that are saved meanwhile are one more call.
 * @param base that the directories are in
 */
export function onSave(work: (file: string) => Promise<void>, directories: readonly string[] = ['src', 'prisma'], base = root): void {
  let saved: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let working = false;
  const next = async (): Promise<void> => {
    if (working) return;
    working = true;
    while (saved !== undefined) {
      const file = saved;
      saved = undefined;
      await work(file);
    }
    working = false;
  };
  const changed = (file: string): void => {
    if (statSync(path.join(base, file), { throwIfNoEntry: false })?.isDirectory()) return watchDirectory(base, file, changed);
    if (!/\.(tsx?|js|mjs|sql|graphql|prisma|html|css)$/.test(file)) return;
    saved = file;
    clearTimeout(timer);
    timer = setTimeout(() => void next(), SETTLED_MS);
  };
  for (const directory of directories) watchDirectory(base, directory, changed);
}

/** A watcher for each directory: one for all of them loses a file that is saved by renaming another one over it, as many editors do (Node 20 on Linux). */
function watchDirectory(base: string, directory: string, changed: (file: string) => void): void {
  if (path.basename(directory) === 'generated') return;
  watch(path.join(base, directory), (_, name) => {
    if (name !== null) changed(path.join(directory, name));
  }).unref(); // the program that is developed keeps the process going
  for (const entry of readdirSync(path.join(base, directory), { withFileTypes: true })) {
    if (entry.isDirectory()) watchDirectory(base, path.join(directory, entry.name), changed);
  }
}
