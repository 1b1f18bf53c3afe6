import { renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { Child, endChildren } from '../support/child.ts';
import { eventuallyAsync } from '../support/eventually.ts';
import { call, signedNow, startServer, startVisitorProcess, write } from '../support/processes.ts';
import { removeScratchDirectories, scratchDirectory } from '../support/scratch.ts';
import { startService } from '../support/service.ts';
import { readAll, visit } from '../support/target.ts';

// Short form: test/engine/health.test.ts

const program = path.resolve(import.meta.dirname, '../../dist/main.js');
const relayOnly = pathToFileURL(path.resolve(import.meta.dirname, '../support/relay-only.mjs')).href;

afterAll(async () => {
  await endChildren();
  removeScratchDirectories();
});

/** Checks come once a second, and machines are busy. */
const TIMEOUT_MS = 20_000;

/** What four visitors read, one after another; "" = they were turned away. */
async function bodies(port: number): Promise<string[]> {
  const all: string[] = [];
  while (all.length < 4) all.push(await body(port).catch(() => '')); // reset
  return all;
}

async function body(port: number): Promise<string> {
  const socket = await visit(port);
  socket.write('GET /visit HTTP/1.0\r\nHost: site.test\r\n\r\n');
  return (await readAll(socket)).toString().split('\r\n\r\n')[1] ?? '';
}

const listed = z.object({
  rows: z.array(z.looseObject({ Id: z.number(), Port: z.number(), HealthRemoveArr: z.array(z.string()).nullable(), HealthCheckType: z.string() })),
});
const shown = z.object({
  data: z.object({
    hosts: z.object({
      rows: z.array(z.object({
        runtime: z.object({
          health: z.object({
            type: z.string(),
            path: z.string(),
            targets: z.array(z.object({ target: z.string(), healthy: z.boolean(), lastError: z.string().nullable() })),
          }).nullable(),
        }),
      })),
    }),
  }),
});

test(
  'targets that the configuration file has checked go out of rotation and come back: in lists and GraphQL, for visitors, after a reconnect and a change of the file',
  async () => {
    const server = await startServer();
    const id = await write(server, '/client/add/', { vkey: 'the key', config_conn_allow: 1 });
    const [a, b] = [await startService('a'), await startService('b')];
    const file = path.join(scratchDirectory(), 'agent.toml');
    const save = (maxFailed: number): void => {
      const targets = `targets = ["${a.address}", "${b.address}"]`;
      writeFileSync(
        `${file}.new`,
        `server = "127.0.0.1:${server.bridgePort}"\nvkey = "the key"
      [tunnels.web]\ntype = "tcp"\n${targets}\nhealth = { interval = 1, timeout = 2, max_failed = ${maxFailed} }
      [hosts.site]\nhost = "site.test"\n${targets}\n[hosts.site.health]\ntype = "http"\ninterval = 1\nmax_failed = ${maxFailed}\npath = "/healthz"\n`,
      );
      renameSync(`${file}.new`, file);
    };
    save(1);
    const agent = new Child(process.execPath, [program, 'agent', '--config', file], { ADIT_SOCKETS: 'captured', ADIT_RUNTIME_DIR: path.dirname(file) });

    const list = async () => listed.parse(await call(server, '/index/gettunnel/', { client_id: id, limit: 10 })).rows;
    /** The tunnel's row when these targets are out of rotation, of the tunnel and of the host. */
    const out = async (targets: readonly string[] | null) => {
      const [row] = await eventuallyAsync(
        list,
        ([first]) => first?.HealthCheckType === 'tcp' && JSON.stringify(first.HealthRemoveArr) === JSON.stringify(targets),
        TIMEOUT_MS,
      );
      const { auth_key, timestamp } = signedNow();
      await eventuallyAsync(
        async () => {
          const response = await fetch(`http://127.0.0.1:${server.httpPort}/graphql?auth_key=${auth_key}&timestamp=${timestamp}`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({
              query: `{ hosts(filter: { clientId: ${id} }) { rows { runtime { health { type path targets { target healthy lastError } } } } } }`,
            }),
          });
          return shown.parse(await response.json()).data.hosts.rows[0]?.runtime.health;
        },
        (health) =>
          health?.type === 'HTTP' && health.path === '/healthz'
          && health.targets.every(({ target, healthy, lastError }) => healthy !== (targets ?? []).includes(target) && (healthy || lastError !== null)),
        TIMEOUT_MS,
      );
      if (!row) throw new Error('there is no row');
      return row;
    };
    await agent.says(/host site: .*\(id/);
    const first = await out(null);
    expect(first).toMatchObject({
      HealthCheckType: 'tcp',
      HealthCheckTimeout: 2,
      HealthCheckInterval: 1,
      HealthMaxFail: 1,
      HttpHealthUrl: '',
      HealthCheckTarget: `${a.address},${b.address}`,
      HealthMap: null,
      NoStore: true,
    });
    for (const port of [first.Port, server.hostsPort]) expect(await bodies(port)).toEqual(expect.arrayContaining(['a', 'b']));
    await a.goDown();
    await agent.says(new RegExp(`tunnel web: ${a.address} is out of rotation: 1 health check failed in a row \\(connect ECONNREFUSED`));
    expect(await out([a.address])).toMatchObject({ HealthMap: { [a.address]: expect.any(Number) } });
    for (const port of [first.Port, server.hostsPort]) expect(await bodies(port)).toEqual(['b', 'b', 'b', 'b']);

    // It comes back over TLS, with other records, and says again what it knows.
    const from = agent.output.length;
    await write(server, '/client/edit/', { id, crypt: 1 });
    await agent.says(/connected to \S+ as client \d+ over TLS/, from);
    await agent.says(/host site: .*\(id/, from);
    const again = await out([a.address]);
    expect(again.Id).not.toBe(first.Id);
    for (const port of [again.Port, server.hostsPort]) expect(await bodies(port)).toEqual(['b', 'b', 'b', 'b']);

    // Other checks of what is declared as before.
    save(2);
    await eventuallyAsync(list, ([row]) => row?.['HealthMaxFail'] === 2 && row.Id === again.Id, TIMEOUT_MS);
    await out([a.address]);
    await a.comeBack();
    await out(null);
    await agent.says(new RegExp(`host site: ${a.address} is healthy again and back in rotation; 2 of 2 targets are in rotation`));
    for (const port of [again.Port, server.hostsPort]) expect(await bodies(port)).toEqual(expect.arrayContaining(['a', 'b']));
    await agent.end();
    expect(await eventuallyAsync(list, (rows) => rows.length === 0, TIMEOUT_MS)).toEqual([]);
  },
  120_000,
);

test('a p2p tunnel and its visitors, directly and by relay, go to the targets in health only, and to those that are back', async () => {
  const server = await startServer();
  const [a, b] = [await startService('a'), await startService('b')];
  /** An agent and its visitor. */
  const pair = async (name: string, environment: Readonly<Record<string, string>>) => {
    await write(server, '/client/add/', { vkey: `the key of ${name}`, config_conn_allow: 1 });
    const file = path.join(scratchDirectory(), `${name}.toml`);
    writeFileSync(
      file,
      `server = "127.0.0.1:${server.bridgePort}"\nvkey = "the key of ${name}"
      [tunnels.web]\ntype = "p2p"\npassword = "${name}"\ntargets = ["${a.address}", "${b.address}"]\nhealth = { type = "http", interval = 1, max_failed = 1 }\n`,
    );
    const agent = new Child(process.execPath, [program, 'agent', '--config', file], {
      ADIT_SOCKETS: 'captured',
      ADIT_RUNTIME_DIR: path.dirname(file),
      ...environment,
    });
    await agent.says(/tunnel web: .*\(id/);
    return { agent, visitor: await startVisitorProcess(server, 'p2p', name, environment) };
  };
  const [direct, relayed] = await Promise.all([pair('direct', {}), pair('relayed', { NODE_OPTIONS: `--import ${relayOnly}` })]);
  await direct.visitor.child.says(/direct path to the agent/);
  const says = (pattern: RegExp) => Promise.all([direct, relayed].map(({ agent }) => agent.says(pattern)));
  /** Who answers the visitors of both when it has come to that. */
  const answer = async (names: readonly string[]): Promise<void> => {
    for (const { visitor } of [direct, relayed]) {
      await eventuallyAsync(async () => new Set(await bodies(visitor.port)), (seen) => [...seen].toSorted().join() === names.join(), TIMEOUT_MS);
    }
  };

  await answer(['a', 'b']);
  await a.goDown();
  await says(new RegExp(`tunnel web: ${a.address} is out of rotation: 1 health check failed in a row`));
  await answer(['b']);
  await a.comeBack();
  await says(new RegExp(`tunnel web: ${a.address} is healthy again and back in rotation`));
  b.answer(503);
  await says(new RegExp(`tunnel web: ${b.address} is out of rotation`));
  await answer(['a']);
  a.answer(503);
  await says(new RegExp(`tunnel web: ${a.address} is out of rotation[^]*${a.address} is out of rotation`));
  // The relay refuses who would come to a target that is down; on the direct path the agent goes on with the last it had.
  await eventuallyAsync(() => bodies(relayed.visitor.port), (names) => names.join('') === '', TIMEOUT_MS);
  expect(await bodies(direct.visitor.port)).toEqual(['a', 'a', 'a', 'a']);
  await b.comeBack();
  await answer(['b']);
  expect(relayed.visitor.child.output).not.toMatch(/direct path to the agent/);
});
