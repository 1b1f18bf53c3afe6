import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'smol-toml';
import { loadSettings, readSettings } from '../../src/settings/load.ts';
import { printSettings } from '../../src/settings/print.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const directory = temporaryDirectory();
const configFile = path.join(directory, 'adit.toml');
writeFileSync(configFile, 'http_port = 80\nallow_ports = "9003, 9001-9002"');
const input = {
  configFile,
  flags: { '--data-dir': directory, '--log-level': 'warn, engine: debug' },
  environment: { ADIT_DATABASE_URL: 'postgresql://u:hush@h/d', ADIT_AUTH_KEY: 'hush' },
};

test('the settings are printed as TOML with the source of each', () => {
  const printed = printSettings(readSettings(input));
  expect(parse(printed)).toMatchObject({ http_port: 80, bridge_port: 8024, allow_ports: '9001-9003', log_level: 'engine:debug,warn', trusted_proxies: [] });
  expect(printed).toMatch(new RegExp(`^http_port = 80 +# http_port \\(${configFile}\\)$`, 'm'));
  expect(printed).toMatch(/^log_level = "engine:debug,warn" +# --log-level \(command line\)$/m);
  expect(printed).toMatch(/^bridge_port = 8024 +# default$/m);
});

test('secrets are masked, whether they were given or generated', () => {
  expect(printSettings(readSettings(input))).toMatch(/^# admin_password +# generated at the first start$/m);
  const { generated } = loadSettings(input);
  const printed = printSettings(readSettings(input));
  expect(parse(printed)).toMatchObject({ database_url: '********', auth_key: '********', auth_crypt_key: '********', admin_password: '********' });
  for (const secret of ['hush', ...Object.values(generated)]) expect(printed).not.toContain(secret);
  expect(printed).toMatch(/^admin_password = "\*+" +# .*secrets\.json$/m);
  // That there is none is no secret.
  expect(parse(printSettings(readSettings({ ...input, environment: { ADIT_AUTH_KEY: '' } })))).toMatchObject({ database_url: '', auth_key: '' });
});
