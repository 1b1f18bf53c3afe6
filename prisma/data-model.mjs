import { readFileSync } from 'node:fs';

/**
 * The data model as Prisma's programs want it for one of the databases: what differs between the two, and the models.
 * @param {'sqlite' | 'postgresql'} dialect
 */
export function dataModel(dialect) {
  return [`${dialect}.prisma`, 'schema.prisma'].map((name) => readFileSync(new URL(name, import.meta.url), 'utf8')).join('\n');
}
