import type { Settings } from './settings.ts';

/**
 * Turns the signed API off where its key is worthless (contract D30), and says what the keys that were given lead to. A known
 * auth_crypt_key is left to its operator: /auth/getauthkey answers with what it is given, and no start generates such a key.
 * @returns the settings, authKey "" = no signed calls
 */
export function withoutWeakKeys(settings: Settings): { settings: Settings; notices: string[] } {
  const notices: string[] = [];
  const { authKey, authCryptKey } = settings;
  if (authKey === '') notices.push('auth_key is empty: the signed API is off');
  if (isKnownKey(authKey)) notices.push('auth_key is one that everybody knows: the signed API is off; set another one');
  if (Buffer.byteLength(authCryptKey) !== 16) notices.push('auth_crypt_key is not 16 bytes long: /auth/getauthkey/ is off');
  else if (isKnownKey(authCryptKey)) notices.push('auth_crypt_key is one that everybody knows: whoever reaches /auth/getauthkey/ can learn auth_key; set another one');
  return { settings: isKnownKey(authKey) ? { ...settings, authKey: '' } : settings, notices };
}

const knownKeys = new Set(['123', '213', 'CHANGE_ME', 'CHANGE_ME_16CHAR', '1234567812345678']);

/** Whether a key is one that this family of servers came with: whoever read their templates knows it (contract sections 5 and 7, D30). */
function isKnownKey(key: string): boolean {
  return knownKeys.has(key.trim());
}
