// Writes the types and documents of the GraphQL operations that the legacy endpoints run (src/legacy/generated), after checking them against the
// schema. Calls the generator's plugins directly: its command line would install 76 MB more.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { codegen } from '@graphql-codegen/core';
import * as typedDocumentNode from '@graphql-codegen/typed-document-node';
import * as typescriptOperations from '@graphql-codegen/typescript-operations';
import { buildSchema, lexicographicSortSchema, parse, printSchema } from 'graphql';

import { root } from './run.mjs';

const operations = path.join(root, 'src/legacy/operations');
const schema = lexicographicSortSchema(buildSchema(readFileSync(path.join(root, 'src/schema/schema.graphql'), 'utf8')));
const output = path.join(root, 'src/legacy/generated/graphql.ts');
const names = readdirSync(operations).filter((name) => name.endsWith('.graphql')).toSorted();
const text = await codegen({
  filename: output,
  schema: parse(printSchema(schema)),
  schemaAst: schema,
  documents: names.map((name) => ({ location: path.join(operations, name), document: parse(readFileSync(path.join(operations, name), 'utf8')) })),
  plugins: [{ typescriptOperations: {} }, { typedDocumentNode: {} }],
  pluginMap: { typescriptOperations, typedDocumentNode },
  config: {
    useTypeImports: true,
    strictScalars: true,
    // The operations run in this process: results hold serialized scalars, variables are passed as such.
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
});
mkdirSync(path.dirname(output), { recursive: true });
writeFileSync(output, text);
