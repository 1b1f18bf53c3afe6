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
  'Unlicense',
  '(BSD-3-Clause OR GPL-2.0)',
]);

/** Packages with another license, or without one in their package.json, and why we can use them. */
export const explainedLicenses: Readonly<Record<string, string>> = {
  elkjs: 'EPL-2.0. Part of the Prisma command line, which npm installs as a peer of the Prisma client. The server never loads it.',
  'seq-queue': 'MIT, by the LICENSE file in the package.',
};

/** The packages that npm installs for users of Adit, without those for development, by license; each name once. */
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

The packages that npm installs with Adit, without those for development, by their license. Written by \`npm run docs:licenses\` from package-lock.json.
\`test/project/licenses.test.ts\` refuses packages with other licenses.
${[...packagesByLicense()].map(([license, names]) => `\n## ${license}\n\n${names.join(', ')}\n`).join('')}
## Explained

${Object.entries(explainedLicenses).map(([name, why]) => `- ${name}: ${why}\n`).join('')}`;
}
