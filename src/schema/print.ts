import { writeFileSync } from 'node:fs';
import { printSchema } from 'graphql';
import { schema } from './schema.ts';

/*
 * Writes schema.graphql, which callers and the type generator read: `npm run schema`. A test fails if the file is out of date.
 */
writeFileSync(new URL('schema.graphql', import.meta.url), `${printSchema(schema)}\n`);
