import { existsSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';

/** Programs that no package contains: set their folder to have them measured. */
export interface Binaries {
  /** The full path of one of them. @throws when they are missing */
  readonly of: (program: string) => string;
  /** Why they can't be used, if so. */
  readonly missing?: string;
}

/** The programs in the folder that a variable of the environment names. */
export function binaries(variable: string, programs: readonly string[]): Binaries {
  const folder = process.env[variable];
  const absent = folder === undefined || programs.some((program) => !existsSync(path.join(folder, program)));
  return {
    of: (program) => {
      if (folder === undefined) throw new Error(`${variable} is not set`);
      return path.resolve(folder, program);
    },
    ...(absent ? { missing: `${variable} names no folder with ${programs.join(' and ')}` } : {}),
  };
}
