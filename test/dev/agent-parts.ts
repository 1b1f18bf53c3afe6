import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Metafile } from 'esbuild';

/**
 * What of a bundled program an agent runs: another text means that the agent has changed.
 * @param root directory of the sources
 * @param first a source that every command begins with, for example `src/command-line.ts`; what it loads later is other commands'
 * @param agent the source that only agents load, for example `src/agent/program.ts`
 */
export function agentParts({ outputs }: Metafile, root: string, first: string, agent: string): string {
  const reached = (source: string, lazily: boolean): string[] => {
    const files = new Set<string>();
    const load = (file: string): void => {
      const output = outputs[file];
      if (output === undefined || files.has(file)) return;
      files.add(file);
      for (const { path: imported, kind } of output.imports) if (lazily || kind === 'import-statement') load(imported);
    };
    for (const [file, { inputs }] of Object.entries(outputs)) if (Object.hasOwn(inputs, source)) load(file);
    return Array.from(files).toSorted();
  };
  // The names of the first files change with all that they load later, so what counts is what they are made of.
  const begun = createHash('sha256');
  for (const file of reached(first, false)) for (const source of Object.keys(outputs[file]?.inputs ?? {})) begun.update(readFileSync(path.join(root, source)));
  return [...reached(agent, true), begun.digest('hex')].join(' ');
}
