import { existsSync } from 'node:fs';
import path from 'node:path';
import { root } from './run.mjs';

/**
 * esbuild plugins that keep out of the server's memory what it never uses of some packages (docs/performance.md, "Memory").
 */
export const leanerPackages = [
  {
    /**
     * Takes GraphQL's ES modules instead of its CommonJS files, also for packages that require it, since there must be one instance of its classes. esbuild gives each module that
     * imports a CommonJS file a copy of its exports, with a getter for each: 9,000 for this package.
     */
    name: 'graphql as modules',
    setup(build) {
      build.onResolve({ filter: /^graphql(\/|$)/ }, ({ path: name }) => {
        const file = path.join(root, 'node_modules', name.replace(/\.m?js$/, ''));
        return { path: [`${file}.mjs`, path.join(file, 'index.mjs')].find(existsSync) };
      });
    },
  },
  {
    /** Leaves out 0.4 MB of tables of iconv-lite. What loads it, the parser of forms, accepts no charset but UTF-8 and ISO-8859-1. */
    name: 'no tables of East Asian character sets',
    setup(build) {
      build.onLoad({ filter: /[/\\]iconv-lite[/\\]encodings[/\\]dbcs-data\.js$/ }, () => ({ contents: 'module.exports = {};', loader: 'js' }));
    },
  },
];
