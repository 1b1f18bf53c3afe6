import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { scratchDirectory } from './scratch.ts';

const ownRoot = path.resolve(import.meta.dirname, '../..');

/** A copy of the compiled program with another version and further PostgreSQL migrations, as a later release has them. @returns its root */
export function otherBuild(version: string, migrations: Readonly<Record<string, string>>): string {
  const root = scratchDirectory();
  for (const directory of ['dist', 'prisma']) cpSync(path.join(ownRoot, directory), path.join(root, directory), { recursive: true });
  // What the program reads beside dist (docs/architecture.md).
  cpSync(path.join(ownRoot, 'src/http/agent-install'), path.join(root, 'src/http/agent-install'), { recursive: true });
  symlinkSync(path.join(ownRoot, 'node_modules'), path.join(root, 'node_modules'));
  const own = z.record(z.string(), z.unknown()).parse(JSON.parse(readFileSync(path.join(ownRoot, 'package.json'), 'utf8')));
  writeFileSync(path.join(root, 'package.json'), JSON.stringify({ ...own, version }));
  for (const [name, sql] of Object.entries(migrations)) {
    const directory = path.join(root, 'prisma/migrations/postgresql', name);
    mkdirSync(directory);
    writeFileSync(path.join(directory, 'migration.sql'), sql);
  }
  return root;
}
