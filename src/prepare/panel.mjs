// Builds the panel into dist/panel: its documents, and scripts and styles with a hash of their content in their names, also compressed. Each page is a script of its
// own. The old panel stays until the new one is complete. Types are checked by the lint. Vite chooses React's form for production by NODE_ENV.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build } from 'vite';
import { root } from './run.mjs';

/** Maximum size of what the first page loads, compressed, in bytes. */
const initialLimit = 300 * 1024;

/** The documents: the panel, and the pages at /api and /graphql. */
const documents = ['index.html', 'api.html', 'graphiql.html'];

/** What the first page loads: the frame, and the dashboard. */
const firstPage = ['index.html', 'pages/dashboard.tsx'];

const [source, target, fresh] = ['src/panel', 'dist/panel', '.cache/panel'].map((name) => path.join(root, name));

const { output } = await build({
  configFile: false,
  envDir: false,
  css: { postcss: {} }, // or Vite looks for a configuration, even above the checkout
  root: source,
  logLevel: 'error',
  // The server writes its base path into the documents; scripts find each other by their own address.
  experimental: { renderBuiltUrl: (name, { hostType }) => hostType === 'html' ? `%BASE%/panel/${path.basename(name)}` : { relative: true } },
  build: {
    outDir: fresh,
    emptyOutDir: true,
    target: 'es2022',
    cssMinify: 'esbuild', // package.json replaces lightningcss by an empty package: 10 MB
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { input: documents.map((name) => path.join(source, name)) },
  },
});

const assets = output.map(({ fileName }) => fileName).filter((name) => !documents.includes(name));
const sizes = new Map(await Promise.all(assets.map(async (name) => [name, await compress(path.join(fresh, name))])));
const bytes = [...loadedFirst()].reduce((sum, name) => sum + sizes.get(name), 0);
if (bytes > initialLimit) throw new Error(`The panel's first page loads ${bytes} bytes; the limit is ${initialLimit}.`);
rmSync(target, { recursive: true, force: true });
mkdirSync(path.dirname(target), { recursive: true });
renameSync(fresh, target);

/** The files that the first page loads. */
function loadedFirst() {
  const loaded = new Set();
  const add = (name) => {
    if (loaded.has(name)) return;
    loaded.add(name);
    const { imports = [], viteMetadata } = output.find(({ fileName }) => fileName === name);
    for (const next of [...imports, ...viteMetadata?.importedCss ?? []]) add(next);
  };
  const modules = firstPage.map((name) => path.join(source, name));
  for (const { fileName, facadeModuleId } of output) if (modules.includes(facadeModuleId)) add(fileName);
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
