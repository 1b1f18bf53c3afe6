import { readFileSync } from 'node:fs';
import path from 'node:path';
import { keepPrivately } from './private-file.ts';
import { hostOfUrl } from '../rules/host-name.ts';
import type { Settings } from './settings.ts';
import { SettingsError } from './settings-error.ts';

/**
 * The options of ACME, including the directory for its files; undefined = ACME is off.
 * @throws {SettingsError} if the file of the CA can't be read
 */
export function acmeOptions(
  { acme, acmeDirectory: directory, acmeEmail, acmeCa, dataDir, httpTls, publicUrl }: Pick<
    Settings,
    'acme' | 'acmeDirectory' | 'acmeEmail' | 'acmeCa' | 'dataDir' | 'httpTls' | 'publicUrl'
  >,
) {
  if (!acme) return undefined;
  const ownName = httpTls === 'acme' ? hostOfUrl(publicUrl) : '';
  return {
    directory,
    email: acmeEmail,
    dir: path.join(dataDir, 'acme'),
    write: keepPrivately,
    ...(acmeCa !== '' && { ca: read(acmeCa) }),
    ...(ownName !== '' && { ownName }),
  };
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new SettingsError([`acme_ca: ${error instanceof Error ? error.message : String(error)}`]);
  }
}
