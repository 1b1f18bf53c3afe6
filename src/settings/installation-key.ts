import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { writePrivately } from './private-file.ts';
import { SettingsError } from './settings-error.ts';
import { isMissing } from './sources.ts';

/** The length of the key, in bytes. */
export const INSTALLATION_KEY_BYTES = 32;
/** The prefix of an invitation, so that it is recognized among other secrets. */
const PREFIX = 'adit-invitation-';

/** The file of the key with which the servers on a PostgreSQL database encrypt what they share. */
export function installationKeyFile(dataDir: string): string {
  return path.join(dataDir, 'installation.key');
}

/** The file of the key that replaces it, while it is being changed. */
function nextKeyFile(dataDir: string): string {
  return path.join(dataDir, 'installation-next.key');
}

/**
 * The keys that may be that of the installation, the most likely first: the one in the data directory, the one that was to replace it when this server was stopped, and that of an invitation.
 * @param invitation "" = none
 * @throws {SettingsError} if a file can't be read, or if one or the invitation has another form
 */
export function keptInstallationKeys(dataDir: string, invitation: string): readonly Buffer[] {
  const files = [installationKeyFile(dataDir), nextKeyFile(dataDir)].flatMap((file) => {
    const kept = contentOf(file);
    return kept === undefined ? [] : [parsed(kept, file)];
  });
  return invitation === '' ? files : [...files, parsed(invitation, 'invitation')];
}

/** Keeps the key that is to replace the current one. @throws {SettingsError} if it can't be written */
export function keepNextInstallationKey(dataDir: string, key: Buffer): void {
  keep(nextKeyFile(dataDir), key);
}

/** The key has replaced the current one. @throws {SettingsError} if that can't be written */
export function useNextInstallationKey(dataDir: string, key: Buffer): void {
  keepInstallationKey(dataDir, key);
  const file = nextKeyFile(dataDir);
  try {
    rmSync(file, { force: true });
  } catch (error) {
    throw unusable(file, error);
  }
}

/** Keeps the key in the data directory, readable by this user only. @throws {SettingsError} if it can't be written */
export function keepInstallationKey(dataDir: string, key: Buffer): void {
  const file = installationKeyFile(dataDir);
  const kept = contentOf(file);
  if (kept === undefined || !parsed(kept, file).equals(key)) keep(file, key);
}

function keep(file: string, key: Buffer): void {
  try {
    writePrivately(file, `${PREFIX}${key.toString('base64url')}\n`);
  } catch (error) {
    throw unusable(file, error);
  }
}

/** What another server needs to join. @throws {SettingsError} if the data directory has no key */
export function invitationOf(dataDir: string): string {
  const file = installationKeyFile(dataDir);
  const kept = contentOf(file);
  if (kept === undefined) throw new SettingsError([`${file}: there is no such file; a server with a PostgreSQL database creates it at its first start`]);
  return `${PREFIX}${parsed(kept, file).toString('base64url')}`;
}

function contentOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw unusable(file, error);
  }
}

function parsed(text: string, name: string): Buffer {
  const key = Buffer.from(text.trim().slice(PREFIX.length), 'base64url');
  if (!text.startsWith(PREFIX) || key.length !== INSTALLATION_KEY_BYTES) throw new SettingsError([`${name}: must be what "adit nodes invite" prints`]);
  return key;
}

function unusable(file: string, error: unknown): SettingsError {
  return new SettingsError([`${file}: ${error instanceof Error ? error.message : String(error)}`]);
}
