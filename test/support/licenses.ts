import { readFileSync } from 'node:fs';
import { z } from 'zod';

const lock = z.object({
  packages: z.record(z.string(), z.object({ version: z.string().optional(), license: z.string().optional(), dev: z.boolean().optional() })),
});

/** Licenses that allow us to distribute a package with Adit, with a copy of its notice. */
export const allowedLicenses: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'MIT and ISC',
  'Python-2.0',
  'Unlicense',
  '(BSD-3-Clause OR GPL-2.0)',
]);

/** The packages that a start installs (the program's and those that build it, without those for development), by license; each name once. */
export function packagesByLicense(): ReadonlyMap<string, readonly string[]> {
  const { packages } = lock.parse(JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')));
  const byLicense = new Map<string, Set<string>>();
  for (const [path, { license = 'none given', dev }] of Object.entries(packages)) {
    if (path === '' || dev === true) continue;
    const names = byLicense.get(license) ?? new Set();
    byLicense.set(license, names.add(path.replace(/^.*node_modules\//, '')));
  }
  return new Map([...byLicense].toSorted(([one], [two]) => (one < two ? -1 : 1)).map(([license, names]) => [license, [...names].toSorted()]));
}

/** The text of docs/licenses.md. */
export function licensesDocument(): string {
  return `# Licenses of dependencies

The packages that a start of Adit installs, those that only build it included, by their license. Written by \`npm run docs:licenses\` from package-lock.json.
\`test/project/licenses.test.ts\` refuses packages with other licenses.
${[...packagesByLicense()].map(([license, names]) => `\n## ${license}\n\n${names.join(', ')}\n`).join('')}`;
}
