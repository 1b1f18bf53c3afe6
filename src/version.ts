import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { packageFile } from './package-file.ts';

/** The version of this program, from package.json. */
export const version = z.object({ version: z.string() })
  .parse(JSON.parse(readFileSync(packageFile('package.json'), 'utf8'))).version;
