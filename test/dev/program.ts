import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { context, stop, type BuildContext, type BuildOptions } from 'esbuild';
import { bundling } from '../../src/prepare/steps.mjs';
import { agentParts } from './agent-parts.ts';

const root = path.resolve(import.meta.dirname, '../..');
/** Holds the program that is developed, as a checkout does: other commands use the one in `dist` meanwhile. */
export const builtRoot = path.join(root, '.cache/dev');

/** The program, bundled from its sources without a look at their types: that takes a fraction of a second. */
export class Program {
  readonly #context: BuildContext<{ metafile: true }>;
  #agentParts = '';

  private constructor(made: BuildContext<{ metafile: true }>) {
    this.#context = made;
  }

  /** Bundles it for the first time. */
  static async built(): Promise<Program> {
    mkdirSync(builtRoot, { recursive: true });
    for (const name of ['package.json', 'prisma', 'src']) {
      if (!existsSync(path.join(builtRoot, name))) symlinkSync(path.join(root, name), path.join(builtRoot, name));
    }
    mkdirSync(path.join(builtRoot, 'dist'), { recursive: true });
    // The panel is the one that src/prepare builds.
    const panel = path.join(builtRoot, 'dist/panel');
    if (!existsSync(panel)) symlinkSync(path.join(root, 'dist/panel'), panel);
    const program = new Program(await context({ ...bundling(path.join(builtRoot, 'dist')) as BuildOptions, metafile: true }));
    await program.#bundle();
    return program;
  }

  /** Bundles it again. @param saved the file that changed @throws {Error} what is wrong with it */
  async rebuild(saved: string): Promise<void> {
    // Code is generated from these, or the panel built.
    if (/\.(graphql|prisma)$|^src[/\\]panel[/\\]/.test(saved)) await promisify(execFile)(process.execPath, ['src/prepare.mjs'], { cwd: root });
    await this.#bundle();
  }

  /** What agents run of it: another text = they have changed. */
  get agentParts(): string {
    return this.#agentParts;
  }

  async #bundle(): Promise<void> {
    const { metafile } = await this.#context.rebuild();
    this.#agentParts = agentParts(metafile, root, 'src/command-line.ts', 'src/agent/program.ts');
  }

  /** Ends the process that bundles. */
  async end(): Promise<void> {
    await this.#context.dispose();
    await stop();
  }
}
