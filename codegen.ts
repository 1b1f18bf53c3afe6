import type { CodegenConfig } from '@graphql-codegen/cli';

/**
 * Types for the GraphQL operations that the legacy endpoints run: `src/legacy/operations/*.graphql` checked against
 * `src/schema/schema.graphql`, written to `src/legacy/generated/` (not in git; `node src/prepare.mjs` runs it when stale).
 */
const config: CodegenConfig = {
  schema: 'src/schema/schema.graphql',
  documents: 'src/legacy/operations/*.graphql',
  importExtension: '.ts',
  emitLegacyCommonJSImports: false,
  generates: {
    'src/legacy/generated/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: {
        useTypeImports: true,
        enumsAsTypes: true,
        strictScalars: true,
        // What the operations run on is in-process execution: results hold serialised scalars, variables are given as such.
        scalars: {
          DateTime: 'string',
          ID: { input: 'string | number', output: 'string' },
          Bytes: 'number',
          BytesPerSecond: 'number',
          KibPerSecond: 'number',
          Mebibytes: 'number',
          JSON: 'unknown',
          Port: 'number',
        },
      },
    },
  },
};

export default config;
