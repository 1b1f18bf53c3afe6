import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { run } from './run.mjs';

/**
 * Why packages have to be installed, or undefined when node_modules agrees with package-lock.json.
 * @param {string} directory the checkout
 */
export function installReason(directory) {
  const installed = path.join(directory, 'node_modules', '.package-lock.json');
  if (!existsSync(installed)) return 'node_modules is missing';
  return lockDifference(readPackages(path.join(directory, 'package-lock.json')), readPackages(installed));
}

/**
 * The first package that is wanted and not installed in this version. Optional ones may be missing: they are made for other
 * platforms.
 * @param {Record<string, {version?: string, optional?: boolean, link?: boolean}>} wanted by path: `node_modules/x`
 * @param {Record<string, {version?: string}>} installed
 * @returns {string | undefined}
 */
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

function readPackages(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages;
}

/**
 * Installs exactly what package-lock.json says, the tools for building and testing included, whatever NODE_ENV says. No
 * package runs a script of its own: those with binaries bring them along.
 */
export async function install() {
  await npm('Installing packages', ['ci', '--include=dev', '--ignore-scripts'], 'The npm registry must be reachable, and package-lock.json must fit package.json.');
}

function npm(what, args, hint) {
  return run(what, [...npmProgram(), ...args, '--no-audit', '--no-fund', '--loglevel=error'], { hint });
}

/** The npm that runs us, or else the one on PATH. */
function npmProgram() {
  const running = process.env.npm_execpath;
  return running !== undefined && path.basename(running) === 'npm-cli.js' ? [process.execPath, running] : ['npm'];
}
