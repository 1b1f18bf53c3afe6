import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { nodeModule, root, run } from './run.mjs';

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
 * package runs a script of its own: the only one that has to is better-sqlite3, see `buildSqlite`.
 */
export async function install() {
  await npm('Installing packages', ['ci', '--include=dev', '--ignore-scripts'], 'The npm registry must be reachable, and package-lock.json must fit package.json.');
}

/** Why SQLite's binary has to be made, or undefined when it loads into this very Node. */
export function sqliteReason() {
  if (!existsSync(nodeModule('better-sqlite3', 'build', 'Release', 'better_sqlite3.node'))) return 'its binary is missing';
  try {
    const Database = createRequire(path.join(root, 'package.json'))('better-sqlite3');
    new Database(':memory:').close();
    return undefined;
  } catch (error) {
    if (error.code !== 'ERR_DLOPEN_FAILED') throw error;
    return 'its binary was made for another Node or system';
  }
}

/** Downloads SQLite's binary, or compiles it where that fails. */
export async function buildSqlite() {
  await npm('Building better-sqlite3', ['rebuild', 'better-sqlite3', '--ignore-scripts=false'],
    'Where its binary can not be downloaded it is compiled: that needs a C++ compiler, make and Python 3 (Debian: apt-get install build-essential python3).');
}

function npm(what, args, hint) {
  return run(what, [...npmProgram(), ...args, '--no-audit', '--no-fund', '--loglevel=error'], { env: headers(), hint });
}

/** The npm that runs us, or else the one on PATH. */
function npmProgram() {
  const running = process.env.npm_execpath;
  return running !== undefined && path.basename(running) === 'npm-cli.js' ? [process.execPath, running] : ['npm'];
}

/** Node's headers beside the program, where they are there, spare the compiler a download from nodejs.org. */
function headers() {
  const prefix = path.resolve(path.dirname(process.execPath), '..');
  return existsSync(path.join(prefix, 'include', 'node', 'node.h')) ? { npm_config_nodedir: prefix } : {};
}
