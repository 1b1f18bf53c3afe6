import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { nodeModule } from './run.mjs';

/** Packages that read files of their own, are made for one machine, or are loaded late by those who need them at all. */
const apart = [
  '@photostructure/sqlite', '@node-rs/argon2', 'udx-native', 'pg-native', 'serve-index', 'acme-client', 'selfsigned', 'emitter',
  '@graphql-yoga/render-graphiql', '@prisma/client/runtime/query_compiler*',
];

/** What packages of the older kind expect to be there. */
const banner = "import { createRequire as createRequireOfBundle } from 'node:module';\nconst require = createRequireOfBundle(import.meta.url);";

/**
 * Puts the compiled program into a few files in place of the 1,300 of its own and of its packages, most of what a start would read and look up:
 * it starts in less than half the time. What a command does not need stays in files that it does not load.
 * @param {string} directory what was compiled; `main.js` and its parts are written beside it
 */
export async function bundle(directory) {
  const { build } = await import(pathToFileURL(nodeModule('esbuild', 'lib', 'main.js')).href);
  await build({
    entryPoints: [path.join(directory, 'main.js')],
    outdir: directory,
    allowOverwrite: true,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    chunkNames: 'part-[name]-[hash]',
    external: apart,
    banner: { js: banner },
    plugins: [placesOf(directory)],
    logLevel: 'error',
  });
}

/** A file that asks where it is, gets the place that it was compiled to. */
function placesOf(directory) {
  return {
    name: 'places',
    setup({ onLoad }) {
      onLoad({ filter: /\.js$/ }, ({ path: file }) => {
        if (!file.startsWith(directory + path.sep)) return undefined;
        const text = readFileSync(file, 'utf8');
        if (!/import\.meta\.\w+/.test(text)) return undefined;
        const place = JSON.stringify(path.relative(directory, file).split(path.sep).join('/'));
        const head = [
          "import { fileURLToPath as pathOfPlace } from 'node:url';", "import { dirname as directoryOfPlace } from 'node:path';",
          `const urlOfPlace = new URL(${place}, import.meta.url).href, fileOfPlace = pathOfPlace(urlOfPlace);`,
        ].join('');
        const body = text.replaceAll('import.meta.url', 'urlOfPlace').replaceAll('import.meta.filename', 'fileOfPlace').replaceAll('import.meta.dirname', 'directoryOfPlace(fileOfPlace)');
        return { contents: `${head}${body}`, loader: 'js' };
      });
    },
  };
}
