import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { root } from '../prepare/run.mjs';

/** Optional packages that are deliberately not shipped: `pg` and `batch` have replacements for them. */
const LEFT_OUT = new Set(['pg-native', 'emitter']);

const { packages: locked } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'));

/** Texts in the same order on every machine. @param {Iterable<string>} texts */
export const sorted = (texts) => [...texts].toSorted((one, two) => (one < two ? -1 : 1));

/** The packages, as directories relative to the root, of which esbuild put files into a bundle. */
export function bundledPackages({ inputs }) {
  const found = Object.keys(inputs).flatMap((file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []);
  return sorted(new Set(found));
}

/** The packages that a bundle imports at run time, such as `serve-index`. */
export function importsOf({ outputs }) {
  const found = Object.values(outputs).flatMap(({ imports }) => imports.filter(({ external }) => external).map((imported) => imported.path));
  return sorted(new Set(found.filter((name) => !isBuiltin(name) && !LEFT_OUT.has(name))));
}

/** The name of the package of an import. */
export const packageOf = (name) => name.split('/').slice(0, name.startsWith('@') ? 2 : 1).join('/');

/** The directory, relative to the root, of the package that an import in another package's directory (or '') finds. */
function resolved(name, from) {
  for (let directory = from;; directory = directory.replace(/(^|\/)node_modules\/(@[^/]+\/)?[^/]+$/, '')) {
    const found = path.posix.join(directory, 'node_modules', name);
    if (existsSync(path.join(root, found, 'package.json'))) return found;
    if (directory === '') return undefined;
  }
}

/** The directories, relative to the root, of packages and of everything that they depend on, without optional packages that are not installed. */
export function withDependencies(names) {
  const found = new Set();
  const add = (name, from, optional) => {
    const directory = resolved(name, from);
    if (directory === undefined && !optional) throw new Error(`${name}, which ${from || 'the program'} needs, is not installed`);
    if (directory === undefined || found.has(directory)) return;
    found.add(directory);
    const { dependencies = {}, optionalDependencies = {} } = manifestOf(directory);
    for (const dependency of Object.keys({ ...dependencies, ...optionalDependencies })) add(dependency, directory, dependency in optionalDependencies);
  };
  for (const name of names) add(name, '', false);
  return sorted(found);
}

/** A package's package.json. */
export function manifestOf(directory) {
  return JSON.parse(readFileSync(path.join(root, directory, 'package.json'), 'utf8'));
}

/** A package's entry in package-lock.json, with its version and checksum. */
export function lockedAs(directory) {
  const entry = locked[directory];
  if (entry === undefined) throw new Error(`${directory} is not in package-lock.json`);
  return entry;
}

/** The text of a package's license files; undefined = it has none, or is not installed on this machine because its binaries are for another one. */
export function licenseText(directory) {
  if (!existsSync(path.join(root, directory))) return undefined;
  const names = readdirSync(path.join(root, directory)).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name));
  const texts = sorted(names).map((name) => path.join(root, directory, name)).map((file) => readFileSync(file, 'utf8').trim());
  return texts.length === 0 ? undefined : texts.join('\n\n');
}
