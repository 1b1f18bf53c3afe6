import { formatLogLevels } from '../rules/log-levels.ts';
import { formatPortRanges } from '../rules/port-range.ts';
import type { ReadSettings } from './load.ts';
import { fileKey, infoOf, settingNames, type SettingName } from './settings.ts';

/** The settings in the format of adit.toml, each with its source, secrets masked (`adit server --print-config`). */
export function printSettings({ settings, origins, missing }: ReadSettings): string {
  const ungenerated: readonly SettingName[] = missing;
  const lines = settingNames.map((name) => {
    if (ungenerated.includes(name)) return [`# ${fileKey(name)}`, 'generated at the first start'];
    const value = name === 'allowPorts' ? formatPortRanges(settings.allowPorts) : name === 'logLevel' ? formatLogLevels(settings.logLevel) : settings[name];
    const masked = infoOf(name).secret === true && value !== '' ? '********' : value;
    return [`${fileKey(name)} = ${JSON.stringify(masked)}`, origins.get(name) ?? 'default'];
  });
  const width = Math.max(...lines.map(([setting = '']) => setting.length));
  return lines.map(([setting = '', origin]) => `${setting.padEnd(width)}  # ${origin}\n`).join('');
}
