import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transformSync } from '@swc/core';

const root = path.resolve(import.meta.dirname, '../../..');
const cache = path.join(root, '.cache', 'tests');
const options = { sourceMaps: true, configFile: false, swcrc: false, jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'es6' } };
const ofSuites = ['test', 'bench'].map((directory) => `${pathToFileURL(path.join(root, directory)).href}/`);
const isOfSuite = (url) => ofSuites.some((directory) => url?.startsWith(directory));
const names = ['afterAll', 'afterEach', 'beforeAll', 'beforeEach', 'describe', 'expect', 'jest', 'test'];
const globals = `const suite = globalThis[Symbol.for('adit globals of the suite')];${names.map((name) => `export const ${name} = suite.${name};`).join('')}`;

/** Node's: where a module is. What a suite imports of test and bench bears its mark, so that it is the suite's own. */
export async function resolve(specifier, context, next) {
  const suite = isOfSuite(context.parentURL) ? new URL(context.parentURL).search : '';
  if (specifier === '@jest/globals') return { url: `data:text/javascript,${encodeURIComponent(`${globals}//${suite}`)}`, format: 'module', shortCircuit: true };
  const resolved = await next(specifier, context);
  return isOfSuite(resolved.url) ? { ...resolved, url: `${resolved.url}${suite}` } : resolved;
}

/** Node's: what a module says. TypeScript becomes JavaScript, which is kept as long as the file is the same. */
export async function load(url, context, next) {
  const { pathname } = new URL(url);
  if (!url.startsWith('file:') || !pathname.endsWith('.ts')) return next(url, context);
  const file = fileURLToPath(`file://${pathname}`);
  return { source: compiled(file, readFileSync(file, 'utf8')), format: 'module', shortCircuit: true };
}

function compiled(file, source) {
  const kept = path.join(cache, `${path.relative(root, file)}.js`);
  const mark = `\n//${createHash('sha256').update(JSON.stringify(options)).update(source).digest('hex')}\n`;
  const before = readIfThere(kept);
  if (before.endsWith(mark)) return withMap(before, file, kept);
  const { code, map } = transformSync(source, { ...options, filename: file });
  mkdirSync(path.dirname(kept), { recursive: true });
  keep(`${kept}.map`, map);
  keep(kept, `${code}${mark}`);
  return withMap(`${code}${mark}`, file, kept);
}

/**
 * `npm test -- --coverage` finds the lines of the sources by the map. It is part of the code: Node does not follow the URL of a file. It names the file that is read here, since the kept one may
 * come from another checkout.
 */
function withMap(code, file, kept) {
  if (process.env.NODE_V8_COVERAGE === undefined) return code;
  const map = { ...JSON.parse(readFileSync(`${kept}.map`, 'utf8')), sources: [pathToFileURL(file).href] };
  return `${code}//# sourceMappingURL=data:application/json;base64,${Buffer.from(JSON.stringify(map)).toString('base64')}\n`;
}

/** Writes a file at once: another worker may be writing the same. */
function keep(file, text) {
  const fresh = `${file}.${randomUUID()}`;
  writeFileSync(fresh, text);
  renameSync(fresh, file);
}

function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return '';
  }
}
