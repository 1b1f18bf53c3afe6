import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { readSettings } from '../../src/settings/load.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const root = path.resolve(import.meta.dirname, '../..');
const directory = temporaryDirectory();
const textOf = (file: string) => readFileSync(path.join(root, file), 'utf8');

/** The settings of a file with this text. @throws what is wrong with it */
function settingsOf(text: string) {
  const configFile = path.join(directory, 'adit.toml');
  writeFileSync(configFile, text);
  return readSettings({ environment: {}, configFile }).settings;
}

test('the container publishes each port that the server opens, and those that its tunnels may use', () => {
  const [compose, image] = [textOf('src/packaging/container/compose.yaml'), textOf('src/packaging/container/Dockerfile')];
  const variables = [...image.matchAll(/^ENV (ADIT_\w+)=(.*)$/gm), ...compose.matchAll(/^ {6}(ADIT_\w+): (.*)$/gm)];
  const { settings } = readSettings({ environment: Object.fromEntries(variables.map(([, name = '', value = '']) => [name, value])) });
  const published = [...compose.matchAll(/^ {6}- ([\d-]+):([\d-]+)(\/udp)?$/gm)].map(([, outside, inside, udp = '']) => [outside, `${inside}${udp}`]);
  const { httpPort, bridgePort, bridgeTlsPort, vhostHttpPort, vhostHttpsPort, p2pPort, allowPorts: [tunnels] } = settings;
  const range = `${tunnels?.from}-${tunnels?.to}`;
  const ports = [`${httpPort}`, `${bridgePort}-${bridgeTlsPort}`, `${vhostHttpPort}`, `${vhostHttpsPort}`, range, `${range}/udp`];
  expect(published.map(([, inside]) => inside)).toEqual([...ports, `${p2pPort}`, `${p2pPort}-${p2pPort + 1}/udp`]);
  for (const [outside, inside = ''] of published) expect(outside).toBe(inside.replace('/udp', ''));
  expect(range).toBe('9000-9099');
  expect(image).toContain(`\nEXPOSE ${[httpPort, bridgePort, bridgeTlsPort, vhostHttpPort, vhostHttpsPort].join(' ')}\n`);
  expect(settings).toMatchObject({ dataDir: '/var/lib/adit', httpHost: '0.0.0.0', httpTls: 'self-signed' });
  for (const line of ['read_only: true', 'cap_drop: [ALL]', 'security_opt: [no-new-privileges]', `- data:${settings.dataDir}`]) {
    expect(compose).toContain(` ${line}\n`);
  }
  expect(image).toMatch(/^USER adit$/m);
});

test('the settings file of the Debian package serves the API to its own machine, or over HTTPS if its comments are settings', () => {
  const text = textOf('src/packaging/debian/adit.toml');
  const dataDir = '/var/lib/adit';
  expect(settingsOf(text)).toMatchObject({ dataDir, httpHost: '127.0.0.1', httpTls: 'off' });
  expect(settingsOf(text.replaceAll(/^#(?=\w)/gm, ''))).toMatchObject({ dataDir, httpHost: '0.0.0.0', httpTls: 'self-signed' });
});

test('the settings file in the documents is one of several servers, and the proxy in front of them leads to its ports', () => {
  const blocks = [...textOf('docs/scaling.md').matchAll(/```\w+ file=(\S+)\n([^]*?)```/g)].map((
    [, name = '', text = ''],
  ) => [name, text.replaceAll(/^ {3}/gm, '')]);
  const files: Readonly<Record<string, string>> = Object.fromEntries(blocks);
  const [own, front] = ['10.0.0.11', '10.0.0.10'];
  const settings = settingsOf(files['adit.toml'] ?? '');
  expect(settings).toMatchObject({
    ...{ node: 'one', nodeAddress: own, httpHost: own, bridgeHost: own, vhostHost: own, tunnelHost: own },
    ...{ trustedProxies: [front], publicUrl: 'https://tunnel.example.com:8443', allowPorts: [{ from: 2200, to: 2299 }] },
  });
  const { httpPort, bridgePort, bridgeTlsPort, vhostHttpPort, vhostHttpsPort } = settings;
  const proxy = files['haproxy.cfg'] ?? '';
  expect([...proxy.matchAll(/^ +bind (\S+)/gm)].map(([, place]) => place)).toEqual(
    ['8443', bridgePort, bridgeTlsPort, '80', '443', '2200-2299'].map((port) => `${front}:${port}`),
  );
  expect([...proxy.matchAll(/^ +server one (\S+)/gm)].map(([, place]) => place)).toEqual(
    [`:${httpPort}`, '', `:${vhostHttpPort}`, `:${vhostHttpsPort}`, ''].map((port) => `${own}${port}`),
  );
});
