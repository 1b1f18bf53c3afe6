import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';

/** The newest version of each major version of Node that is supported. */
export const NODE_VERSIONS = ['20.20.2', '22.23.3', '24.21.0', '26.10.0'] as const;

const cache = path.resolve(import.meta.dirname, '../../.cache/nodes');

/** A version of Node for this machine, from the npm registry when it is not there yet. @returns its path @throws when npm can't install it */
export async function nodeBinary(version: string): Promise<string> {
  const name = `node-${process.platform}-${process.arch}`;
  const directory = path.join(cache, version);
  const binary = path.join(directory, 'node_modules', name, 'bin', 'node');
  if (!existsSync(binary)) {
    mkdirSync(directory, { recursive: true });
    await promisify(execFile)('npm', ['install', '--prefix', directory, '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', `${name}@${version}`]);
  }
  return binary;
}
