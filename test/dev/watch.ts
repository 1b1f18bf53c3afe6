import { watch } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');
/** Editors write a file in several steps: so long after the last one it counts as saved, in ms. */
const SETTLED_MS = 50;

/** Calls `work` with the path of a source that was saved, one call at a time; files that are saved meanwhile are one more call. */
export function onSave(work: (file: string) => Promise<void>): void {
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
  for (const directory of ['src', 'prisma']) {
    watch(path.join(root, directory), { recursive: true }, (_, name) => {
      if (name === null || !/\.(ts|graphql|prisma|html|css)$/.test(name) || /(^|[/\\])generated[/\\]/.test(name)) return;
      saved = path.join(directory, name);
      clearTimeout(timer);
      timer = setTimeout(() => void next(), SETTLED_MS);
    });
  }
}
