import { readdirSync } from 'node:fs';
import path from 'node:path';
import { nodeModule, root, run } from './run.mjs';

const operations = path.join(root, 'src', 'legacy', 'operations');

/** What the typed operations are generated from. */
export function codegenInputs() {
  return [
    ...readdirSync(operations).filter((name) => name.endsWith('.graphql')).map((name) => path.join(operations, name)),
    path.join(root, 'src', 'schema', 'schema.graphql'),
    path.join(root, 'codegen.ts'),
    nodeModule('@graphql-codegen', 'cli', 'package.json'),
    nodeModule('@graphql-codegen', 'client-preset', 'package.json'),
  ];
}

/** What has to exist for the generated code to count as there. */
export const codegenOutputs = [path.join(root, 'src', 'legacy', 'generated', 'graphql.ts')];

/** Generates the typed GraphQL operations of the legacy endpoints, as codegen.ts says. */
export async function generateOperations() {
  await run('Generating the GraphQL operations', [process.execPath, nodeModule('@graphql-codegen', 'cli', 'cjs', 'bin.js'), '--config', 'codegen.ts']);
}
