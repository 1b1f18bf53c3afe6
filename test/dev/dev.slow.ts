import { once } from 'node:events';
import { existsSync, readFileSync, utimesSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import process from 'node:process';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { Child, endChildren } from '../support/child.ts';
import type { DevelopmentData } from '../support/development-data.ts';
import { eventually } from '../support/eventually.ts';
import { signedNow } from '../support/processes.ts';
import { removeScratchDirectories, scratchDirectory } from '../support/scratch.ts';

// Short form: test/dev/watch.test.ts

const root = path.resolve(import.meta.dirname, '../..');
afterEach(endChildren);
afterAll(removeScratchDirectories);

/** The processes that descend from one, by /proc. */
function descendants(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter((text) => text !== '').map(Number);
  return children.flatMap((child) => [child, ...descendants(child)]);
}

/** Not one that has ended and waits for somebody to ask how. */
function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}/stat`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}

async function isOpen(port: number): Promise<boolean> {
  const socket = net.connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function ask(httpPort: number, query: string): Promise<unknown> {
  const { auth_key: key, timestamp } = signedNow();
  const headers = { 'content-type': 'application/json', 'x-adit-auth-key': key, 'x-adit-timestamp': String(timestamp), connection: 'close' };
  const response = await fetch(`http://127.0.0.1:${httpPort}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) });
  return response.json();
}

const answer = z.object({ data: z.record(z.string(), z.object({ stoppedBy: z.object({ name: z.string() }).nullable() })) });
const ready = /ready after (\d+\.\d) s: http:\/\/127\.0\.0\.1:(\d+)\//;

test('npm run dev serves working tunnels and hosts and one fault of each kind, restarts when a source is saved, and leaves nothing behind', async () => {
  const dataDir = scratchDirectory();
  const dev = new Child(process.execPath, ['--import', 'tsx', path.join(root, 'test/dev/dev.ts'), '--free-ports', '--data-dir', dataDir]);
  const [, , port] = await dev.says(ready);
  await dev.says(/Faults, by the gate of the diagnosis:[^]*TARGET/);
  const { tunnels, hosts, faults }: DevelopmentData = JSON.parse(readFileSync(path.join(dataDir, 'development.json'), 'utf8'));
  expect(faults.map(({ gate }) => gate)).toEqual(['ROUTE', 'CERTIFICATE', 'ENABLED', 'OWNER', 'QUOTA', 'ACCESS', 'AGENT', 'TARGET']);

  const questions = [
    ...Object.entries(tunnels).map(([type, id]) => ({ name: `tunnel_${type}`, tunnel: id, host: undefined, scheme: 'HTTP', gate: undefined })),
    ...hosts.map((host, index) => ({ name: `host_${index}`, tunnel: undefined, host: host.replace('*', 'a'), scheme: 'HTTPS', gate: undefined })),
    ...faults.map(({ gate, tunnel, host }) => ({ name: `fault_${gate}`, tunnel, host, scheme: 'HTTPS', gate })),
  ];
  const query = questions.map(({ name, tunnel, host, scheme }) => {
    const rest = 'visitorAddress: "127.0.0.1", probe: true) { stoppedBy { name } }';
    return tunnel === undefined ? `${name}: diagnoseHost(host: "${host}", scheme: ${scheme}, ${rest}` : `${name}: diagnoseTunnel(id: ${tunnel}, ${rest}`;
  });
  const results: Record<string, string | undefined> = {};
  // An operation may not cost much: a few questions each.
  for (let at = 0; at < query.length; at += 6) {
    const { data } = answer.parse(await ask(Number(port), `{ ${query.slice(at, at + 6).join(' ')} }`));
    for (const [name, { stoppedBy }] of Object.entries(data)) results[name] = stoppedBy?.name;
  }
  expect(results).toEqual(Object.fromEntries(questions.map(({ name, gate }) => [name, gate])));

  const before = descendants(dev.pid);
  expect(before.length).toBeGreaterThanOrEqual(3);
  const from = dev.output.length;
  const now = new Date();
  utimesSync(path.join(root, 'src/version.ts'), now, now);
  await dev.says(/src\/version\.ts was saved/, from);
  const [, , again] = await dev.says(ready, from);
  expect(again).toBe(port);
  // Only the server is another: nothing of the agents has changed.
  const after = descendants(dev.pid);
  expect(after.filter((pid) => before.includes(pid)).length).toBe(after.length - 1);
  expect(dev.output.slice(0, from)).toContain('Next, in another terminal');
  expect(dev.output.slice(from)).not.toContain('Next, in another terminal');

  const all = [dev.pid, ...descendants(dev.pid)];
  dev.kill('SIGINT');
  expect(await dev.exited).toEqual({ code: 0, signal: null });
  await eventually(() => all.filter(isAlive), (left) => left.length === 0);
  expect(await isOpen(Number(port))).toBe(false);
});
