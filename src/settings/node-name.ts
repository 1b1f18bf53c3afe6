import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { keepPrivately } from './private-file.ts';
import type { Settings } from './settings.ts';
import { isMissing } from './sources.ts';

/** The file of the name that a node got at its first start. */
export function nodeNameFile(dataDir: string): string {
  return path.join(dataDir, 'node-name');
}

/** The most characters of a name. */
const MAX_LENGTH = 63;

/** The name of one of several processes of a server. @param name the server's */
export function processName(name: string, number: number): string {
  const ending = `-${number}`;
  return `${name.slice(0, MAX_LENGTH - ending.length)}${ending}`;
}

/**
 * The name of this node: the setting, or else the host name of the first start. That name is kept in the data directory, since a container has another host name each time it is
 * created.
 * @param machine the host name
 * @throws the system's error if the file can't be read or written
 */
export async function ownNodeName({ node, dataDir }: Pick<Settings, 'node' | 'dataDir'>, machine = hostname()): Promise<string> {
  if (node !== '') return node;
  const file = nodeNameFile(dataDir);
  try {
    const kept = (await readFile(file, 'utf8')).trim();
    if (/^[\w.-]{1,63}$/.test(kept)) return kept;
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  const name = machine.replaceAll(/[^\w.-]/g, '-').slice(0, MAX_LENGTH) || 'node';
  await keepPrivately(file, `${name}\n`);
  return name;
}
