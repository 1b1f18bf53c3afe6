import { chmodSync, cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root } from '../prepare/run.mjs';
import { lockedAs, manifestOf, packageOf, sorted, withDependencies } from './packages.mjs';
import { registryPackage } from './registry-package.mjs';

/** The platforms that servers are released for, by the names that packages give their binaries. */
export const PLATFORMS = ['linux-x64', 'linux-arm64'];

/** Files of packages that no program reads. */
const UNREAD = /\.(map|md|markdown|ts|cts|mts|cc|c|h|gyp|bare)$|[/\\](\.[^/\\]+|tools|test|tests|benchmark|scripts|src[/\\]upstream)$/i;

/**
 * Writes the server as it is installed: the compiled program, and of its packages only those that are not part of the bundle, with the binaries for some platforms.
 * @param {string[]} imports what the bundle imports from packages
 * @param {string[]} platforms of {@link PLATFORMS}
 * @returns the directories of these packages, relative to the root
 */
export async function writeServerTree(tree, imports, platforms) {
  rmSync(tree, { recursive: true, force: true });
  mkdirSync(path.join(tree, 'bin'), { recursive: true });
  for (const name of ['dist', 'prisma/migrations', 'src/http/agent-install']) {
    cpSync(path.join(root, name), path.join(tree, name), { recursive: true });
  }
  cpSync(path.join(root, 'src/packaging/adit.mjs'), path.join(tree, 'bin/adit.mjs'));
  chmodSync(path.join(tree, 'bin/adit.mjs'), 0o755);
  const { name, version, description, license, type, engines } = manifestOf('.');
  writeFileSync(path.join(tree, 'package.json'), `${JSON.stringify({ name, version, description, license, private: true, type, engines }, undefined, 2)}\n`);

  const argon2 = PLATFORMS.map((platform) => ({ directory: `node_modules/@node-rs/argon2-${platform}-gnu`, wanted: platforms.includes(platform) }));
  const others = withDependencies(imports).filter((name) => !argon2.some(({ directory }) => directory === name));
  const packages = sorted([...others, ...argon2.filter(({ wanted }) => wanted).map(({ directory }) => directory)]);
  for (const directory of packages) copyPackage(await installed(directory), path.join(tree, directory), platforms);
  return packages;
}

/** Copies what people read. */
export function writeDocuments(directory) {
  for (const name of ['LICENSE', 'CHANGELOG.md', 'docs']) cpSync(path.join(root, name), path.join(directory, name), { recursive: true });
}

function copyPackage(from, to, platforms) {
  cpSync(from, to, {
    recursive: true,
    filter: (file) => {
      const inside = path.relative(from, file);
      if (inside === 'node_modules' || inside.startsWith(`node_modules${path.sep}`)) return false; // those that are needed are copied themselves
      const [, binaries] = /^prebuilds[/\\]([^/\\]+)/.exec(inside) ?? [];
      return (binaries === undefined || platforms.includes(binaries)) && !UNREAD.test(`${path.sep}${inside}`);
    },
  });
}

/** Where a package is. npm does not install those with binaries for other machines: they come from the registry. */
function installed(directory) {
  const local = path.join(root, directory);
  if (existsSync(local)) return local;
  const { version, integrity } = lockedAs(directory);
  return registryPackage(packageOf(directory.replace('node_modules/', '')), version, integrity);
}
