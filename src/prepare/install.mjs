import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { root, run } from './run.mjs';

/**
 * What has to be installed in this checkout; undefined = node_modules matches package-lock.json. A start needs the packages in `dependencies`; tests,
 * lint and benchmarks also need those in `devDependencies`, which a start keeps up to date if they are installed.
 * @param {string} directory of the checkout
 * @param {boolean} forDevelopment whether the packages in `devDependencies` are needed
 * @returns {{why: string, forDevelopment: boolean, incomplete: boolean} | undefined} incomplete: all that a start needs is installed
 */
export function missingPackages(directory, forDevelopment) {
  const packages = (name) => JSON.parse(readFileSync(`${directory}/${name}`, 'utf8')).packages;
  const record = 'node_modules/.package-lock.json';
  if (!existsSync(`${directory}/${record}`)) return { why: 'node_modules is missing', forDevelopment, incomplete: false };
  const [wanted, installed] = [packages('package-lock.json'), packages(record)];
  const all = forDevelopment || Object.values(installed).some(({ dev = false }) => dev);
  const forStart = lockDifference(wanted, installed, false);
  const why = forStart ?? (all ? lockDifference(wanted, installed, true) : undefined);
  return why && { why, forDevelopment: all, incomplete: forStart === undefined };
}

/** The first required package, by path, that is missing or has another version. Optional packages for other platforms may be missing. */
export function lockDifference(wanted, installed, forDevelopment) {
  for (const [location, { version, dev = false, optional = false, link = false }] of Object.entries(wanted)) {
    if (location === '' || link || (dev && !forDevelopment)) continue;
    const name = location.replace(/^.*node_modules\//, '');
    const found = installed[location];
    if (found === undefined && !optional) return `${name} is not installed`;
    if (found !== undefined && found.version !== version) return `${name} is ${found.version}, package-lock.json wants ${version}`;
  }
  return undefined;
}

/**
 * Installs the packages in package-lock.json, whatever NODE_ENV is. Adds only those that are missing if all others are right: `npm ci` would remove and
 * install everything again. Runs no install scripts: packages include their binaries.
 */
export async function install({ forDevelopment, incomplete }) {
  const command = `${incomplete ? 'install --no-save' : 'ci'} --${forDevelopment ? 'include' : 'omit'}=dev`;
  const hint = 'The npm registry must be reachable, and package-lock.json must fit package.json.';
  await run('Installing packages', `npm ${command} --ignore-scripts --no-audit --no-fund --loglevel=error`, { hint });
  removeUnusedCompilers(path.join(root, 'node_modules/@prisma/client/runtime'));
}

/**
 * Prisma's client has a query compiler for each of five databases, small and fast, as CommonJS and as modules: 67 MB. Adit uses two (prisma/*.prisma),
 * and npm cannot leave out a package's files.
 */
function removeUnusedCompilers(directory) {
  const unused = readdirSync(directory).filter((name) => name.startsWith('query_compiler_') && !/_small_bg\.(sqlite|postgresql)\./.test(name));
  for (const name of unused) rmSync(path.join(directory, name));
}
