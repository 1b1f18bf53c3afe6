import { hash } from 'node:crypto';
import { isFastHash, verifyFastHash } from '../access/fast-hash.ts';
import type { ImportRecord } from './records.ts';

/** Fields that change by themselves, or that say where the record was found; and login passwords, of which not even an unsalted digest may be stored. */
const ignored: ReadonlySet<string> = new Set([
  'source',
  'password',
  'webPassword',
  'inletBytes',
  'exportBytes',
  'lastOnlineAt',
  'lastAddress',
  'localAddress',
  'agentVersion',
]);

/** By this, a later import recognizes that a record has not changed. */
export function digestOf(record: ImportRecord): string {
  const skipped = record.kind === 'tunnel' ? (key: string) => ignored.has(key) && key !== 'password' : (key: string) => ignored.has(key);
  return hash('sha256', JSON.stringify(record, (key, value: unknown) => key !== '' && skipped(key) ? undefined : value));
}

/** Whether a login password has changed since the import. After the first login nobody can tell: then it has not. @param stored the hash */
export function passwordChanged(password: string, stored: string): boolean {
  if (stored === '') return password !== '';
  return isFastHash(stored) && !verifyFastHash(password, stored);
}
