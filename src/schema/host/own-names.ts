import { OwnNames } from '../../rules/own-names.ts';
import { coversPublicSuffix } from '../../rules/public-suffix.ts';
import type { Reading } from '../../store/reading.ts';
import type { Context } from '../context.ts';
import { AditError } from '../errors.ts';

/** The server's own names, as its settings and the global settings are now. */
export async function ownNames({ settings }: Context, db: Reading): Promise<OwnNames> {
  const global = await db.globalSettings.findUnique({ where: { id: 1 }, select: { serverUrl: true } });
  return new OwnNames([settings.publicUrl, global?.serverUrl ?? '']);
}

/**
 * Whether the caller may use a name for a host, or order a certificate for it: administrators may use any.
 * @throws {AditError} HOST_OWN_NAME, HOST_PUBLIC_SUFFIX
 */
export async function checkNameAllowed(context: Context, db: Reading, name: string): Promise<void> {
  if (context.caller.kind === 'admin') return;
  if (coversPublicSuffix(name)) throw new AditError('HOST_PUBLIC_SUFFIX');
  if ((await ownNames(context, db)).has(name)) throw new AditError('HOST_OWN_NAME');
}
