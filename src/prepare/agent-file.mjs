import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { root } from './run.mjs';

const require = createRequire(import.meta.url);

/** Lets CommonJS packages require Node's modules. */
const requireInModules = "import { createRequire as createRequireOfBundle } from 'node:module'; const require = createRequireOfBundle(import.meta.url);";
/** An executable has no folder of packages, so it looks for them next to itself. */
const requireInExecutable = "require = require('node:module').createRequire(process.execPath);";

/**
 * The esbuild options of the agent and the visitor in one file that needs no packages: `adit-agent.mjs` as an ES module, or the main script of an executable as
 * CommonJS, which Node's single executable applications require. Only UDX, which is native, is not part of it; p2p works without it.
 * @param {string} outfile
 * @param {'esm' | 'cjs'} format
 */
export const bundlingAgent = (outfile, format) => ({
  absWorkingDir: root,
  entryPoints: ['src/agent-file.ts'],
  outfile,
  bundle: true,
  format,
  platform: 'node',
  target: 'node20',
  external: ['udx-native', 'emitter'], // batch only requires `emitter` where there is no `events`
  define: { __dirname: JSON.stringify(FILES) },
  plugins: [embeddedVersion, embeddedFiles, typesWithExtension, withoutUnused, builtinsWhenNeeded],
  alias: { 'mime-db': path.join(root, 'node_modules/mime-db') }, // serve-index has an older copy
  logLevel: 'error',
  minifySyntax: true,
  minifyWhitespace: true,
  lineLimit: 160,
  legalComments: 'inline',
  banner: { js: format === 'esm' ? `#!/usr/bin/env node\n${requireInModules}` : requireInExecutable },
  // import() in an executable only finds Node's own modules.
  supported: { 'dynamic-import': format === 'esm' },
});

/** Where serve-index finds its files in the bundle. */
const FILES = '/embedded';

/** Replaces reading package.json by its version. */
const embeddedVersion = {
  name: 'embedded-version',
  setup(build) {
    build.onLoad({ filter: /[/\\]src[/\\]version\.ts$/ }, () => {
      const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
      return { contents: `export const version = ${JSON.stringify(version)};`, loader: 'ts' };
    });
  },
};

/** Gives serve-index, which reads its template and style sheet from its package, a `readFile` that finds them in the bundle. */
const embeddedFiles = {
  name: 'embedded-files',
  setup(build) {
    build.onResolve(
      { filter: /^fs$/ },
      ({ importer }) => /[/\\]serve-index[/\\]index\.js$/.test(importer) ? { path: 'fs', namespace: 'embedded-files' } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: 'embedded-files' }, () => {
      const directory = path.dirname(require.resolve('serve-index'));
      const files = ['directory.html', 'style.css'].map((name) => [`${FILES}/public/${name}`, readFileSync(path.join(directory, 'public', name), 'utf8')]);
      const contents = `const fs = require('node:fs');
const files = new Map(${JSON.stringify(files)});
module.exports = { ...fs, readFile: (name, encoding, done) => files.has(name) ? done(null, files.get(name)) : fs.readFile(name, encoding, done) };`;
      return { contents, loader: 'js' };
    });
  },
};

/** Leaves out the media types that no file name has: the agent only looks up the types of files. */
const typesWithExtension = {
  name: 'types-with-extension',
  setup(build) {
    build.onLoad({ filter: /[/\\]mime-db[/\\]db\.json$/ }, ({ path: file }) => {
      const types = Object.entries(JSON.parse(readFileSync(file, 'utf8'))).filter(([, { extensions }]) => extensions !== undefined);
      return { contents: JSON.stringify(Object.fromEntries(types)), loader: 'json' };
    });
  },
};

/** Loads Node's own modules with the first module that imports them: as imports of the one file, all of them would be loaded at its start. */
const builtinsWhenNeeded = {
  name: 'builtins-when-needed',
  setup(build) {
    build.onResolve(
      { filter: /^node:/ },
      ({ path: name, kind }) => kind === 'require-call' ? { path: name, external: true } : { path: name, namespace: 'builtins' },
    );
    build.onLoad({ filter: /.*/, namespace: 'builtins' }, ({ path: name }) => ({ contents: exportsOf(name), loader: 'js' }));
  },
};

/**
 * A module that exports what one of Node's has, of which esbuild keeps only what is used. If it were a CommonJS module, esbuild would make an object with a getter for
 * each property for each module that imports it, 3,700 in all.
 */
function exportsOf(name) {
  const names = Object.keys(require(name)).filter((key) => /^[a-z]\w*$/i.test(key) && !['default', 'delete'].includes(key));
  return [
    `const $module = require(${JSON.stringify(name)}), $property = (name) => $module[name];`,
    'export default $module;',
    ...names.map((key) => `export const ${key} = /* @__PURE__ */ $property('${key}');`),
  ].join('\n');
}

/** Leaves out what pino needs to write to files and from threads, and commander to run other programs. The agent does neither. */
const withoutUnused = {
  name: 'without-unused',
  setup(build) {
    const unused = [
      { filter: /^(thread-stream|sonic-boom)$/, by: /[/\\]pino[/\\]/, contents: 'module.exports = class {};' },
      { filter: /^worker_threads$/, by: /[/\\]pino[/\\]/, contents: 'module.exports = { isMainThread: true };' },
      { filter: /^node:child_process$/, by: /[/\\]commander[/\\]/, contents: 'module.exports = {};' },
    ];
    for (const { filter, by, contents } of unused) {
      build.onResolve({ filter }, ({ importer }) => by.test(importer) ? { path: String(filter), namespace: 'unused', pluginData: contents } : undefined);
    }
    build.onLoad({ filter: /.*/, namespace: 'unused' }, ({ pluginData: contents }) => ({ contents, loader: 'js' }));
  },
};
