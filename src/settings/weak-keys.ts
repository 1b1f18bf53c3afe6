import type { Settings } from './settings.ts';

/**
 * Turns off the signed API if its key is well known (contract D30), and returns notices about weak keys. A well-known
 * auth_crypt_key stays in use: /auth/getauthkey uses any key that is set. Generated keys are never well known.
 * @returns the settings; authKey "" = no signed calls
 */
export function withoutWeakKeys(settings: Settings): { settings: Settings; notices: string[] } {
  const notices: string[] = [];
  const { authKey, authCryptKey } = settings;
  if (authKey === '') notices.push('auth_key is empty: the signed API is off');
  if (isKnownKey(authKey)) notices.push('auth_key is a publicly known key: the signed API is off; set another one');
  if (Buffer.byteLength(authCryptKey) !== 16) notices.push('auth_crypt_key is not 16 bytes long: /auth/getauthkey/ is off');
  else if (isKnownKey(authCryptKey)) {
    notices.push('auth_crypt_key is a publicly known key: anyone who can reach /auth/getauthkey/ can learn auth_key; set another one');
  }
  return { settings: isKnownKey(authKey) ? { ...settings, authKey: '' } : settings, notices };
}

const knownKeys = new Set(['123', '213', 'CHANGE_ME', 'CHANGE_ME_16CHAR', '1234567812345678']);

/** Whether a key comes from a template of an NPS server, and is therefore public (contract sections 5 and 7, D30). */
function isKnownKey(key: string): boolean {
  return knownKeys.has(key.trim());
}
