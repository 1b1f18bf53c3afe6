import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { missingPrograms, type Program } from './debian-packages.ts';

/** Where programs are looked for: PATH, and where Debian keeps servers that are not on everybody's PATH. */
function directories(): string[] {
  const postgresql = '/usr/lib/postgresql';
  const newestFirst = existsSync(postgresql) ? readdirSync(postgresql).toSorted((a, b) => Number(b) - Number(a)) : [];
  return [
    ...(process.env['PATH'] ?? '').split(path.delimiter),
    '/usr/sbin',
    '/sbin',
    '/usr/lib/nginx/modules',
    ...newestFirst.map((version) => `${postgresql}/${version}/bin`),
  ];
}

/** The full path of a program (`initdb`, `haproxy`), or of a module of nginx (`ngx_stream_module.so`); undefined = this machine lacks it. */
export function findProgram(name: Program): string | undefined {
  return directories().filter(Boolean).map((directory) => path.join(directory, name)).find((file) => {
    try {
      accessSync(file, name.endsWith('.so') ? constants.R_OK : constants.X_OK);
      return true;
    } catch {
      return false; // not there, or not ours to run: look on
    }
  });
}

/** The full path of a program that `describeWith` has found. @throws {Error} when this machine lacks it */
export function programPath(name: Program): string {
  const file = findProgram(name);
  if (file === undefined) throw new Error(`${missingPrograms([name])}; in a test, put what needs it inside describeWith('${name}', ...)`);
  return file;
}
