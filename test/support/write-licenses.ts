import { writeFileSync } from 'node:fs';
import { licensesDocument } from './licenses.ts';

/*
 * Writes docs/licenses.md: `npm run docs:licenses`. A test fails if the file is out of date.
 */
writeFileSync(new URL('../../docs/licenses.md', import.meta.url), licensesDocument());
