import type { CodegenConfig } from '@graphql-codegen/cli';

/** How values of the schema's scalars are passed in JSON. */
const scalars = {
  DateTime: 'string',
  Bytes: 'number',
  BytesPerSecond: 'number',
  KibPerSecond: 'number',
  Mebibytes: 'number',
  JSON: 'unknown',
  Port: 'number',
};

/**
 * The code that is generated from the schema and from the operations of the legacy endpoints and of the panel. None of it is in git: `node src/prepare.mjs`
 * writes it by this file when it is missing or outdated (src/prepare/graphql-code.mjs), and `npx graphql-codegen` at any time.
 */
const config: CodegenConfig = {
  schema: 'src/schema/schema.graphql',
  importExtension: '.ts',
  emitLegacyCommonJSImports: false,
  generates: {
    'src/legacy/generated/graphql.ts': {
      documents: 'src/legacy/operations/*.graphql',
      plugins: ['typescript-operations', 'typed-document-node'],
      config: {
        useTypeImports: true,
        strictScalars: true,
        // The operations run in this process: results hold serialized scalars, variables are passed as such.
        scalars: { ...scalars, ID: { input: 'string | number', output: 'string' } },
      },
    },
    'src/panel/generated/': {
      documents: ['src/panel/**/*.ts', 'src/panel/**/*.tsx'],
      preset: 'client',
      presetConfig: { fragmentMasking: { unmaskFunctionName: 'unmask' } },
      config: { useTypeImports: true, enumsAsTypes: true, strictScalars: true, dedupeFragments: true, scalars },
    },
  },
};

export default config;
