import { build } from 'esbuild';

/** Suites that start the compiled program run it by this file: what they reach is the whole program. */
const STARTS_PROGRAM = 'test/support/processes.ts';
const PROGRAM = 'src/main.ts';
/** Threads of the program, by the file that starts each: it imports them as far as suites are concerned. */
const THREADS: ReadonlyArray<readonly [starter: string, thread: string]> = [
  ['src/store/sqlite/worker-link.ts', 'src/store/sqlite/worker.ts'],
];
type Imports = ReadonlyMap<string, readonly string[]>;

/** Whether a file is a suite of `npm test` or of `npm run test:slow`. */
export function isSuite(file: string): boolean {
  return /\.(?:test|slow)\.ts$/.test(file);
}

/** More than any suite's distance. */
const LAST = 100;

/** Which suites run which source files, by what they import. */
export class SuiteGraph {
  /** By file: those that import it. */
  readonly #importers: Imports;
  /** By file: those that it imports. */
  readonly #imports: Imports;

  private constructor(importers: Imports, imports: Imports) {
    this.#importers = importers;
    this.#imports = imports;
  }

  /** @param root of the repository @param suites paths from there */
  static async of(root: string, suites: readonly string[]): Promise<SuiteGraph> {
    const { metafile } = await build({
      absWorkingDir: root,
      entryPoints: [...suites, PROGRAM, ...THREADS.map(([, thread]) => thread)],
      outdir: 'nowhere',
      bundle: true,
      write: false,
      metafile: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      logLevel: 'error',
    });
    const importers = new Map<string, string[]>();
    const allImports = new Map<string, string[]>();
    const add = (imported: string, by: string): void => {
      importers.set(imported, [...importers.get(imported) ?? [], by]);
      allImports.set(by, [...allImports.get(by) ?? [], imported]);
    };
    for (const [file, { imports }] of Object.entries(metafile.inputs)) {
      for (const imported of imports) if (imported.external !== true) add(imported.path, file);
    }
    add(PROGRAM, STARTS_PROGRAM);
    for (const [starter, thread] of THREADS) add(thread, starter);
    return new SuiteGraph(importers, allImports);
  }

  /**
   * The suites that reach a file, first those most likely to test it: few imports lie between, and their paths have words in common. Those that start the
   * compiled program, which takes longest, come last.
   */
  suitesFor(file: string): string[] {
    const distances = new Map([[file, 0]]);
    for (const [at, distance] of distances) {
      for (const importer of this.#importers.get(at) ?? []) if (!distances.has(importer)) distances.set(importer, distance + 1);
    }
    const words = new Set(wordsOf(file));
    const ranks = Array.from(distances).filter(([each]) => isSuite(each))
      .map(([suite, distance]) => ({
        suite,
        rank: (this.startsProgram(suite) ? LAST : 0) + distance - 1.5 * new Set(wordsOf(suite).filter((word) => words.has(word))).size,
      }));
    return ranks.toSorted((a, b) => a.rank - b.rank || a.suite.localeCompare(b.suite)).map(({ suite }) => suite);
  }

  /** All files of ours that a suite may run: itself and what it imports. */
  filesOf(suite: string): string[] {
    const seen = new Set([suite]);
    for (const at of seen) for (const imported of this.#imports.get(at) ?? []) seen.add(imported);
    return Array.from(seen);
  }

  /** Whether a suite starts the compiled program: what runs there is not known to the suite's own process. */
  startsProgram(suite: string): boolean {
    const seen = new Set([STARTS_PROGRAM]);
    for (const at of seen) {
      if (at === suite) return true;
      for (const importer of this.#importers.get(at) ?? []) seen.add(importer);
    }
    return false;
  }
}

function wordsOf(file: string): string[] {
  return file.replace(/^(?:src|test)\//, '').replace(/(?:\.test)?\.ts$/, '').split(/[/-]/).map((word) => word.replace(/s$/, ''));
}
