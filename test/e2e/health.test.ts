import { renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { afterAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { Child, endChildren } from '../support/child.ts';
import { eventuallyAsync } from '../support/eventually.ts';
import { call, signedNow, startServer, write } from '../support/processes.ts';
import { removeScratchDirectories, scratchDirectory } from '../support/scratch.ts';
import { startService } from '../support/service.ts';
import { readAll, visit } from '../support/target.ts';

afterAll(async () => {
  await endChildren();
  removeScratchDirectories();
});

/** Checks come once a second, and machines are busy. */
const PATIENCE_MS = 20_000;

const listed = z.object({ rows: z.array(z.looseObject({ Id: z.number(), Port: z.number(), HealthRemoveArr: z.array(z.string()).nullable(), HealthCheckType: z.string() })) });
const shown = z.object({ data: z.object({ hosts: z.object({ rows: z.array(z.object({
  runtime: z.object({ health: z.object({ type: z.string(), path: z.string(), targets: z.array(z.object({ target: z.string(), healthy: z.boolean(), lastError: z.string() })) }).nullable() }),
})) }) }) });

test('targets that the configuration file has checked go out of turn and come back: in lists and GraphQL, for visitors, after a reconnect and a change of the file', async () => {
  const server = await startServer();
  const id = await write(server, '/client/add/', { vkey: 'the key', config_conn_allow: 1 });
  const [a, b] = [await startService('a'), await startService('b')];
  const file = path.join(scratchDirectory(), 'agent.toml');
  const save = (maxFailed: number): void => {
    const targets = `targets = ["${a.address}", "${b.address}"]`;
    writeFileSync(`${file}.new`, `server = "127.0.0.1:${server.bridgePort}"\nvkey = "the key"
      [tunnels.web]\ntype = "tcp"\n${targets}\nhealth = { interval = 1, timeout = 2, max_failed = ${maxFailed} }
      [hosts.site]\nhost = "site.test"\n${targets}\n[hosts.site.health]\ntype = "http"\ninterval = 1\nmax_failed = ${maxFailed}\npath = "/healthz"\n`);
    renameSync(`${file}.new`, file);
  };
  save(1);
  const agent = new Child(process.execPath, [path.resolve(import.meta.dirname, '../../dist/main.js'), 'agent', '--config', file], { ADIT_SOCKETS: 'onread', ADIT_RUNTIME_DIR: path.dirname(file) });

  const list = async () => listed.parse(await call(server, '/index/gettunnel/', { client_id: id, limit: 10 })).rows;
  /** The tunnel's row when these targets are out of turn, of the tunnel and of the host. */
  const out = async (targets: readonly string[] | null) => {
    const [row] = await eventuallyAsync(list, ([first]) => first?.HealthCheckType === 'tcp' && JSON.stringify(first.HealthRemoveArr) === JSON.stringify(targets), PATIENCE_MS);
    const { auth_key, timestamp } = signedNow();
    await eventuallyAsync(async () => {
      const response = await fetch(`http://127.0.0.1:${server.httpPort}/graphql?auth_key=${auth_key}&timestamp=${timestamp}`, {
        method: 'POST', headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: `{ hosts(clientId: ${id}) { rows { runtime { health { type path targets { target healthy lastError } } } } } }` }),
      });
      return shown.parse(await response.json()).data.hosts.rows[0]?.runtime.health;
    }, (health) => health?.type === 'HTTP' && health.path === '/healthz' && health.targets.every(({ target, healthy, lastError }) => healthy !== (targets ?? []).includes(target) && (healthy || lastError !== '')), PATIENCE_MS);
    if (!row) throw new Error('there is no row');
    return row;
  };
  const answers = async (port: number): Promise<string[]> => {
    const bodies: string[] = [];
    for (let count = 0; count < 4; count++) {
      const socket = await visit(port);
      socket.write('GET /visit HTTP/1.0\r\nHost: site.test\r\n\r\n');
      bodies.push((await readAll(socket)).toString().split('\r\n\r\n')[1] ?? '');
    }
    return bodies;
  };

  await agent.says(/host site: .*\(id/);
  const first = await out(null);
  expect(first).toMatchObject({
    HealthCheckType: 'tcp', HealthCheckTimeout: 2, HealthCheckInterval: 1, HealthMaxFail: 1, HttpHealthUrl: '', HealthCheckTarget: `${a.address},${b.address}`, HealthMap: null, NoStore: true,
  });
  for (const port of [first.Port, server.hostsPort]) expect(await answers(port)).toEqual(expect.arrayContaining(['a', 'b']));
  await a.goDown();
  await agent.says(new RegExp(`tunnel web: ${a.address} is out of turn: 1 health check failed in a row \\(connect ECONNREFUSED`));
  expect(await out([a.address])).toMatchObject({ HealthMap: { [a.address]: expect.any(Number) } });
  for (const port of [first.Port, server.hostsPort]) expect(await answers(port)).toEqual(['b', 'b', 'b', 'b']);

  // It comes back over TLS, with other records, and says again what it knows.
  const from = agent.output.length;
  await write(server, '/client/edit/', { id, crypt: 1 });
  await agent.says(/connected to \S+ as client \d+ over TLS/, from);
  await agent.says(/host site: .*\(id/, from);
  const again = await out([a.address]);
  expect(again.Id).not.toBe(first.Id);
  for (const port of [again.Port, server.hostsPort]) expect(await answers(port)).toEqual(['b', 'b', 'b', 'b']);

  // Other checks of what is declared as before.
  save(2);
  await eventuallyAsync(list, ([row]) => row?.['HealthMaxFail'] === 2 && row.Id === again.Id, PATIENCE_MS);
  await out([a.address]);
  await a.comeBack();
  await out(null);
  await agent.says(new RegExp(`host site: ${a.address} is healthy again and back in turn; 2 of 2 targets take turns`));
  for (const port of [again.Port, server.hostsPort]) expect(await answers(port)).toEqual(expect.arrayContaining(['a', 'b']));
  await agent.end();
  expect(await eventuallyAsync(list, (rows) => rows.length === 0, PATIENCE_MS)).toEqual([]);
}, 120_000);
