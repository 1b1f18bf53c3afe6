import { existsSync, readFileSync } from 'node:fs';
import { run } from './run.mjs';

/** Why packages have to be installed in this checkout; undefined = node_modules matches package-lock.json. */
export function installReason(directory) {
  const packages = (name) => JSON.parse(readFileSync(`${directory}/${name}`, 'utf8')).packages;
  const installed = 'node_modules/.package-lock.json';
  return existsSync(`${directory}/${installed}`) ? lockDifference(packages('package-lock.json'), packages(installed)) : 'node_modules is missing';
}

/** The first required package, by path, that is missing or has another version. Optional packages for other platforms may be missing. */
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

/** Installs the packages in package-lock.json, including tools, whatever NODE_ENV is. Runs no install scripts: packages include their binaries. */
export function install() {
  const hint = 'The npm registry must be reachable, and package-lock.json must fit package.json.';
  return run('Installing packages', 'npm ci --include=dev --ignore-scripts --no-audit --no-fund --loglevel=error', { hint });
}
