import { writeFileSync } from 'node:fs';
import { settingsDocument } from './document.ts';

/*
 * Writes docs/settings.md: `npm run docs:settings`. A test fails if the file is out of date.
 */
writeFileSync(new URL('../../docs/settings.md', import.meta.url), settingsDocument());
