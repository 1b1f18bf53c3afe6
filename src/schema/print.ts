import { writeFileSync } from 'node:fs';
import { printSchema } from 'graphql';
import { schema } from './schema.ts';

/*
 * Writes schema.graphql, the text that callers and the type generator read: `npm run schema`. A test fails while it is stale.
 */
writeFileSync(new URL('schema.graphql', import.meta.url), `${printSchema(schema)}\n`);
