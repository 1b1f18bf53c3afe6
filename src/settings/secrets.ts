import { randomInt } from 'node:crypto';
import { chmodSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { writePrivately } from './private-file.ts';
import { SettingsError } from './settings-error.ts';
import { isMissing } from './sources.ts';

/** The secrets that are generated if they are not set, with their lengths in characters (contract D30). */
const lengths = { authKey: 40, authCryptKey: 16, adminPassword: 20 } as const;

/** A secret that is generated if it is not set. */
export type GeneratedSecret = keyof typeof lengths;

/** The names of all generated secrets. */
export const generatedSecrets: readonly GeneratedSecret[] = ['authKey', 'authCryptKey', 'adminPassword'];

const storedSchema = z.strictObject({ authKey: z.string(), authCryptKey: z.string(), adminPassword: z.string() }).partial();

/** Secrets by name. */
export type StoredSecrets = z.output<typeof storedSchema>;

/** The name of the file of the generated secrets. */
export const SECRETS_FILE = 'secrets.json';

/** The file of the generated secrets. */
export function secretsFile(dataDir: string): string {
  return path.join(dataDir, SECRETS_FILE);
}

/**
 * The secrets that an earlier start generated; {} before the first start. If other users may read the file, its mode is corrected.
 * @throws {SettingsError} if the file can't be read or isn't ours
 */
export function storedSecrets(dataDir: string): StoredSecrets {
  const file = secretsFile(dataDir);
  try {
    const stored = storedSchema.safeParse(JSON.parse(readFileSync(file, 'utf8')));
    if (!stored.success) throw new Error('holds something else than generated secrets');
    if (process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
    return stored.data;
  } catch (error) {
    if (isMissing(error)) return {};
    // The parser's message would quote the file, which contains secrets.
    const problem = error instanceof SyntaxError ? 'is not JSON' : error instanceof Error ? error.message : String(error);
    throw new SettingsError([`${file}: ${problem} (data directory)`]);
  }
}

/**
 * Generates the named secrets and adds them to the stored ones. The file is readable by this user only, and is on disk
 * before the secrets are shown.
 * @returns the new secrets
 * @throws {SettingsError} if the data directory can't be created or written
 */
export function generateSecrets(dataDir: string, names: readonly GeneratedSecret[]): StoredSecrets {
  const made = Object.fromEntries(names.map((name) => [name, randomText(lengths[name])]));
  const file = secretsFile(dataDir);
  try {
    writePrivately(file, `${JSON.stringify({ ...storedSecrets(dataDir), ...made }, null, 2)}\n`);
  } catch (error) {
    if (error instanceof SettingsError) throw error;
    throw new SettingsError([`${file}: ${error instanceof Error ? error.message : String(error)} (data directory)`]);
  }
  return made;
}

/** Letters and digits only, so that a secret can be pasted anywhere. */
function randomText(length: number): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
  return Array.from({ length }, () => letters[randomInt(letters.length)]).join('');
}
