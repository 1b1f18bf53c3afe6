import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { z } from 'zod';

const root = path.resolve(import.meta.dirname, '../..');
/** What a start may install, in MB on disk. The goal is 300 (docs/performance.md): before you raise this, look for what a start does not need. */
const LIMIT_MB = 275;

const lockSchema = z.object({ packages: z.record(z.string(), z.object({ dev: z.boolean().optional(), resolved: z.url().optional() })) });
const { packages } = lockSchema.parse(JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')));

/** Bytes on disk of the files in a directory, without packages of its own. */
function sizeOf(directory: string): number {
  return readdirSync(directory, { withFileTypes: true }).reduce((sum, entry) => {
    const file = path.join(directory, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? sum : sum + sizeOf(file);
    return sum + statSync(file).blocks * 512;
  }, 0);
}

test('a start installs no more than it needs', () => {
  const installed = Object.entries(packages).filter(([location, { dev }]) => location !== '' && dev !== true && existsSync(path.join(root, location)));
  const sizes = installed.map(([location]) => ({ location, megabytes: sizeOf(path.join(root, location)) / 2 ** 20 }));
  const total = sizes.reduce((sum, { megabytes }) => sum + megabytes, 0);
  const largest = sizes.toSorted((one, two) => two.megabytes - one.megabytes).slice(0, 20);
  const report = largest.map(({ location, megabytes }) => `${megabytes.toFixed(1)} MB ${location}`).join('\n');
  if (total > LIMIT_MB) throw new Error(`a start installs ${total.toFixed(0)} MB, more than ${LIMIT_MB}; the largest packages:\n${report}`);
  expect(total).toBeGreaterThan(50); // that it was measured
});

test('npm downloads packages without the metadata of all their versions, since each has an address in package-lock.json', () => {
  const addresses = Object.entries(packages).flatMap(([location, { resolved }]) => location === '' ? [] : [[location, resolved]]);
  expect(addresses.length).toBeGreaterThan(100); // that they were read
  expect(addresses.filter(([, address]) => address?.startsWith('https://registry.npmjs.org/') !== true)).toEqual([]);
});
