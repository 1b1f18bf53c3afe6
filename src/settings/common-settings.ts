import { hash } from 'node:crypto';
import { fileKey, infoOf, settingNames, type Settings } from './settings.ts';

/** How many hex digits of a hash distinguish two values. */
const DIGITS = 16;

/** What a server tells the others of each setting that must be the same on all of them: the key in adit.toml, and a hash of the value, which may be long or secret. */
export function commonSettings(settings: Settings): Readonly<Record<string, string>> {
  const names = settingNames.filter((name) => infoOf(name).common === true);
  return Object.fromEntries(names.map((name) => [fileKey(name), hash('sha256', `adit setting ${name} ${JSON.stringify(settings[name])}`).slice(0, DIGITS)]));
}
