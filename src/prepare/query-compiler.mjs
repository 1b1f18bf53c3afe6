import { readFileSync } from 'node:fs';
import path from 'node:path';

/**
 * An esbuild plugin that writes Prisma's query compiler to a file, which the program reads when it opens the database. Prisma's own module
 * has it as base64 text, which stays in memory twice (as source and as value): 4.4 MB instead of none.
 */
export const queryCompiler = {
  name: 'query compiler',
  setup(build) {
    build.onLoad({ filter: /query_compiler_\w+\.\w+\.wasm-base64\.mjs$/ }, ({ path: module }) => ({
      // The generated client calls Buffer.from(wasm, 'base64'), which reads `valueOf` of an object.
      contents: `
        import { readFileSync } from 'node:fs';
        import file from ${JSON.stringify(`./${path.basename(module, '-base64.mjs')}`)};
        export const wasm = { valueOf: () => readFileSync(new URL(file, import.meta.url)) };`,
      resolveDir: path.dirname(module),
    }));
    build.onResolve({ filter: /^\.\/query_compiler_\w+\.\w+\.wasm$/ }, ({ path: name, resolveDir }) => ({
      path: path.basename(name),
      namespace: 'wasm',
      pluginData: path.join(resolveDir, `${name}-base64.mjs`),
    }));
    build.onLoad({ filter: /./, namespace: 'wasm' }, ({ pluginData: module }) => {
      const [, base64] = /"([\w+/=]+)"/.exec(readFileSync(module, 'latin1')) ?? [];
      if (base64 === undefined) throw new Error(`${module} does not have the text that this version of Prisma has`);
      return { contents: Buffer.from(base64, 'base64'), loader: 'file' };
    });
  },
};
