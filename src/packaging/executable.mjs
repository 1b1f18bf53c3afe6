import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { bundlingAgent } from '../prepare/agent-file.mjs';
import { root, run } from '../prepare/run.mjs';
import { nodePackage } from './registry-package.mjs';

/**
 * Writes the agent as an executable that needs no Node: a single executable application of Node, whose main script is CommonJS. Node for this machine writes it, also for
 * other processors.
 * @param {string} arch `x64` or `arm64`
 */
export async function writeExecutable(arch, output) {
  // Names are shortened, unlike in adit-agent.mjs, so that an executable has at most 1 MB more than Node.
  const main = '.cache/release/adit-agent.cjs';
  await build({ ...bundlingAgent(path.join(root, main), 'cjs'), minifyIdentifiers: true });
  const config = '.cache/release/executable.json';
  mkdirSync(path.join(root, path.dirname(config)), { recursive: true });
  const executable = path.join(await nodePackage(arch), 'bin/node');
  // The path of the main script becomes part of the executable, so it is relative.
  writeFileSync(path.join(root, config), JSON.stringify({ main, output, executable, disableExperimentalSEAWarning: true }));
  rmSync(output, { force: true });
  await run(`Writing ${path.basename(output)}`, `${path.join(await nodePackage(process.arch), 'bin/node')} --build-sea ${config}`);
}
