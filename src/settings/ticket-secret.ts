import { randomBytes } from 'node:crypto';
import { chmod, readFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import * as z from 'zod';
import { keepPrivately } from './private-file.ts';

/** How long a secret is used, in ms. Anyone who obtains it can decrypt the resumed TLS 1.2 connections of that period. */
export const TICKET_SECRET_MS = 24 * 60 * 60_000;
const BYTES = 32;

const stored = z.strictObject({
  secret: z.base64().transform((text) => Buffer.from(text, 'base64')).refine(({ length }) => length === BYTES),
  madeAt: z.number(),
});

/** The name of the file of the secret. */
export const TICKETS_FILE = 'tls-tickets.json';

/** The file of the secret that seals TLS session tickets, so that tickets survive a restart. */
export function ticketSecretFile(dataDir: string): string {
  return path.join(dataDir, TICKETS_FILE);
}

/**
 * The current secret: the stored one, or a new one if the stored one is older than {@link TICKET_SECRET_MS}, from the future, or invalid. The file is
 * readable by this user only.
 * @param now ms since the epoch
 * @throws the system's error if it can't be read or written
 */
export async function ticketSecret(dataDir: string, now: number): Promise<Buffer> {
  const file = ticketSecretFile(dataDir);
  const kept = stored.safeParse(parsed(await text(file)));
  if (kept.success && kept.data.madeAt <= now && now - kept.data.madeAt < TICKET_SECRET_MS) {
    if (process.platform !== 'win32') await chmod(file, 0o600);
    return kept.data.secret;
  }
  const secret = randomBytes(BYTES);
  await keepPrivately(file, `${JSON.stringify({ secret: secret.toString('base64'), madeAt: now })}\n`);
  return secret;
}

async function text(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined; // not a secret: the caller generates a new one
  }
}
