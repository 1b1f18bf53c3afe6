import { existsSync, readFileSync } from 'node:fs';
import { run } from './run.mjs';

/** Why packages have to be installed in this checkout, or undefined when its node_modules agrees with package-lock.json. */
export function installReason(directory) {
  const packages = (name) => JSON.parse(readFileSync(`${directory}/${name}`, 'utf8')).packages;
  const installed = 'node_modules/.package-lock.json';
  return existsSync(`${directory}/${installed}`) ? lockDifference(packages('package-lock.json'), packages(installed)) : 'node_modules is missing';
}

/** The first package that is wanted and not installed in this version, both by path. Optional ones may be missing: they are for other platforms. */
export function lockDifference(wanted, installed) {
  for (const [location, { version, optional = false, link = false }] of Object.entries(wanted)) {
    if (location === '' || link) continue;
    const name = location.replace(/^.*node_modules\//, '');
    const found = installed[location];
    if (found === undefined && !optional) return `${name} is not installed`;
    if (found !== undefined && found.version !== version) return `${name} is ${found.version}, package-lock.json wants ${version}`;
  }
  return undefined;
}

/** Installs what package-lock.json says, tools included, independent of NODE_ENV. Packages run no script: those with binaries bring them along. */
export function install() {
  const hint = 'The npm registry must be reachable, and package-lock.json must fit package.json.';
  return run('Installing packages', 'npm ci --include=dev --ignore-scripts --no-audit --no-fund --loglevel=error', { hint });
}
