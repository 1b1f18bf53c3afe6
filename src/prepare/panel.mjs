import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { PrepareError, root } from './run.mjs';

/** Maximum size of what the first page loads, compressed, in bytes. */
const initialLimit = 300 * 1024;

/** The documents, and the script that each loads: the panel, and the pages at /api and /graphql. */
const documents = { 'index.html': 'src/panel/main.tsx', 'api.html': 'src/panel/api-page/main.tsx', 'graphiql.html': 'src/panel/graphiql/main.tsx' };

/** What the first page loads: the frame, and the dashboard. */
const firstPage = ['main.tsx', 'pages/dashboard.tsx'].map((name) => `src/panel/${name}`);

/**
 * Builds the panel into dist/panel: its documents, and scripts and styles with a hash of their content in their names, also compressed. Each page is a script of
 * its own. The old one stays until the new one is complete. Types are checked by the lint.
 * @throws {PrepareError} if what the first page loads is too large
 */
export async function buildPanel() {
  const [target, fresh] = ['dist/panel', '.cache/panel'].map((name) => path.join(root, name));
  rmSync(fresh, { recursive: true, force: true });
  const { build, stop } = await import('esbuild');
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(Object.entries(documents).map(([name, entry]) => [path.parse(name).name, entry])),
    outdir: path.join(fresh, 'assets'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    jsx: 'automatic',
    minify: true,
    legalComments: 'none',
    define: { 'process.env.NODE_ENV': '"production"' },
    metafile: true,
    logLevel: 'error',
  });
  await stop();
  const outputs = Object.entries(metafile.outputs);
  mkdirSync(fresh, { recursive: true });
  for (const [name, entry] of Object.entries(documents)) {
    const [script, { cssBundle }] = outputs.find(([, { entryPoint }]) => entryPoint === entry);
    const html = readFileSync(path.join(root, 'src/panel', name), 'utf8').replace('%SCRIPT%', path.basename(script)).replace(
      '%STYLE%',
      path.basename(cssBundle),
    );
    writeFileSync(path.join(fresh, name), html);
  }
  const sizes = new Map(await Promise.all(outputs.map(async ([name]) => [name, await compress(path.join(root, name))])));
  const bytes = [...loadedFirst(outputs)].reduce((sum, name) => sum + sizes.get(name), 0);
  if (bytes > initialLimit) throw new PrepareError(`The panel's first page loads ${bytes} bytes; the limit is ${initialLimit}.`);
  rmSync(target, { recursive: true, force: true });
  mkdirSync(path.dirname(target), { recursive: true });
  renameSync(fresh, target);
}

/** The outputs that the first page loads. */
function loadedFirst(outputs) {
  const loaded = new Set();
  const add = (name) => {
    if (loaded.has(name)) return;
    loaded.add(name);
    const { imports, cssBundle } = outputs.find(([each]) => each === name)[1];
    if (cssBundle !== undefined) add(cssBundle);
    for (const { path: next, kind } of imports) if (kind === 'import-statement') add(next);
  };
  for (const [name, { entryPoint }] of outputs) if (firstPage.includes(entryPoint)) add(name);
  return loaded;
}

/** Writes the file's compressed forms next to it, so that the server never compresses. @returns the size of the smallest form, in bytes */
async function compress(file) {
  const content = readFileSync(file);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 10, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
  const [brotli, zipped] = await Promise.all([promisify(brotliCompress)(content, { params }), promisify(gzip)(content, { level: 9 })]);
  writeFileSync(`${file}.br`, brotli);
  writeFileSync(`${file}.gz`, zipped);
  return brotli.length;
}
