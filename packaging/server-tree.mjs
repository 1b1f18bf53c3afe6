import { chmodSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root } from '../src/prepare/run.mjs';
import { lockedAs, manifestOf, packageOf, sorted, withDependencies } from './packages.mjs';
import { registryPackage } from './registry-package.mjs';

/** The platforms of the server's release, by the names that packages give their binaries. */
export const PLATFORMS = ['linux-x64', 'linux-arm64'];

/** Files of packages that no program reads. */
const UNREAD = /\.(map|md|markdown|ts|cts|mts|cc|c|h|gyp)$|[/\\](test|tests|benchmark|scripts|src[/\\]upstream)$/i;

/**
 * Writes the server as it is installed: the compiled program, and of its packages only those that are not part of the bundle, with the binaries for all platforms.
 * @param {string[]} imports what the bundle imports from packages
 * @returns the directories of these packages, relative to the root
 */
export async function writeServerTree(tree, imports) {
  rmSync(tree, { recursive: true, force: true });
  mkdirSync(path.join(tree, 'bin'), { recursive: true });
  for (const name of ['dist', 'prisma/migrations', 'src/http/try-api', 'src/http/agent-install', 'LICENSE', 'CHANGELOG.md', 'docs']) {
    cpSync(path.join(root, name), path.join(tree, name), { recursive: true });
  }
  cpSync(path.join(root, 'packaging/adit.mjs'), path.join(tree, 'bin/adit.mjs'));
  chmodSync(path.join(tree, 'bin/adit.mjs'), 0o755);
  const { name, version, description, license, type, engines } = manifestOf('.');
  writeFileSync(path.join(tree, 'package.json'), `${JSON.stringify({ name, version, description, license, private: true, type, engines }, undefined, 2)}\n`);

  const packages = withDependencies(imports);
  for (const directory of packages) copyPackage(directory, tree);
  return sorted([...packages, ...await addArgon2(tree, packages)]);
}

function copyPackage(directory, tree) {
  const from = path.join(root, directory);
  cpSync(from, path.join(tree, directory), {
    recursive: true,
    filter: (file) => {
      const inside = path.relative(from, file);
      if (inside === 'node_modules' || inside.startsWith(`node_modules${path.sep}`)) return false; // those that are needed are copied themselves
      const [, binaries] = /^prebuilds[/\\]([^/\\]+)/.exec(inside) ?? [];
      return (binaries === undefined || PLATFORMS.includes(binaries)) && !UNREAD.test(`${path.sep}${inside}`);
    },
  });
}

/** Adds the packages with argon2's binaries for the platforms other than this one, which npm does not install. @returns all of these packages */
async function addArgon2(tree, present) {
  const wanted = PLATFORMS.map((platform) => `node_modules/@node-rs/argon2-${platform}-gnu`);
  const missing = wanted.filter((directory) => !present.includes(directory));
  for (const directory of missing) {
    const { version, integrity } = lockedAs(directory);
    cpSync(await registryPackage(packageOf(directory.replace('node_modules/', '')), version, integrity), path.join(tree, directory), { recursive: true });
  }
  return missing;
}
