import { statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { adit, client, graphql, hosts, httpText, runtime, server, serveConfigured, startAgain, startWeb, tunnels } from '../support/configured.ts';
import { eventuallyAsync } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { call, openTunnel, write } from '../support/processes.ts';
import { closed, refusedPort, roundTrip, startEcho, visit } from '../support/target.ts';

// Short form: test/e2e/config-file.test.ts

serveConfigured();

test('an agent with a configuration file is refused without permission, accepted with it, and disconnected when it is withdrawn', async () => {
  const { id, file, save } = await client({ config_conn_allow: 0 });
  save('');
  const agent = adit('--config', file);
  await agent.says(/refused by 127\.0\.0\.1:\d+: the client may not use a configuration file \(config_conn_allow is off\); trying again/);
  await write(server(), '/client/edit/', { id, config_conn_allow: 1 });
  await agent.says(/connected to/);
  const from = agent.output.length;
  await write(server(), '/client/edit/', { id, config_conn_allow: 0 });
  const [line] = await agent.says(/connection to \S+ lost: the client may not use a configuration file[^;]*/, from);
  expect(line).toMatch(/\(config_conn_allow is off\)$/);
  expect(agent.over).toBe(false);
});

test('what an agent brought along is stopped, started, copied and deleted through the API, and not edited', async () => {
  const { id, file, save } = await client();
  const echo = await startEcho();
  save(`[tunnels.a]\ntype = "tcp"\ntargets = ["${echo.address}"]\n[hosts.b]\nhost = "b.config.test"\ntargets = ["${echo.address}"]\n`);
  const agent = adit('--config', file);
  await agent.says(/host b: .*\(id/);
  const [row] = await tunnels(id);
  const [host] = await hosts(id);
  if (!row || !host) throw new Error('nothing is listed');
  expect(await call(server(), '/index/edit/', { id: row.Id, remark: 'x' })).toEqual({
    status: 0,
    msg: "this tunnel comes from the agent's configuration file: edit it there",
  });
  expect(await call(server(), '/index/edithost/', { id: host.Id, remark: 'x' })).toEqual({
    status: 0,
    msg: "this host comes from the agent's configuration file: edit it there",
  });
  await write(server(), '/index/stop/', { id: row.Id });
  await expect(visit(row.Port)).rejects.toThrow('ECONNREFUSED');
  await write(server(), '/index/start/', { id: row.Id });
  expect(await roundTrip(await visit(row.Port), 'again')).toBe('again');
  const copy = await write(server(), '/index/copy/', { id: row.Id });
  expect((await tunnels(id)).find(({ Id }) => Id === copy)).toMatchObject({ NoStore: false });
  await write(server(), '/index/del/', { id: row.Id });
  expect((await tunnels(id)).map(({ Id }) => Id)).toEqual([copy]);
  // A changed entry is declared again.
  save(`[tunnels.a]\ntype = "tcp"\ntargets = ["${echo.address}"]\nremark = "new"\n`);
  await agent.says(/host b: withdrawn/);
  await eventuallyAsync(() => tunnels(id), (rows) => rows.length === 2 && rows.some(({ NoStore, Remark }) => NoStore && Remark === 'new'));
});

test('the rules of the API apply: quotas, ports, passwords; refusals have a reason, and the other entries serve', async () => {
  const { id, file, save } = await client({ max_tunnel: 3 });
  const echo = await startEcho();
  const stored = await openTunnel(server(), id, echo.address);
  await write(server(), '/index/add/', { client_id: id, type: 'secret', password: 'taken', target: echo.address });
  save(`
    [tunnels.port]
    type = "tcp"
    port = ${stored.port}
    targets = ["${echo.address}"]
    [tunnels.password]
    type = "secret"
    password = "taken"
    targets = ["${echo.address}"]
    [tunnels.fits]
    type = "tcp"
    targets = ["${echo.address}"]
    [tunnels.quota]
    type = "tcp"
    targets = ["${echo.address}"]
  `);
  const agent = adit('--config', file);
  await agent.says(/tunnel port: the server refuses it: The port cannot be opened because it may has been occupied or is no longer allowed\.; trying again/);
  await agent.says(/tunnel password: the server refuses it: secret mode keys taken must be unique/);
  await agent.says(/tunnel fits: tcp on port \d+/);
  await agent.says(/tunnel quota: the server refuses it: The number of tunnels exceeds the limit/);
  expect(await call(server(), '/index/add/', { client_id: id, type: 'tcp', port: 0, target: echo.address })).toMatchObject({
    status: 0,
    msg: 'The number of tunnels exceeds the limit',
  });
  agent.kill('SIGTERM');
  await agent.exited;
  await eventuallyAsync(() => tunnels(id), (rows) => rows.length === 2 && rows.every(({ NoStore }) => !NoStore));
  await openTunnel(server(), id, echo.address);
});

test('a save changes what is another and nothing else, a broken one nothing at all', async () => {
  const { id, file, save } = await client();
  const [one, other] = [await startEcho(), await startWeb('the other')];
  const port = await freePort();
  const kept = `[tunnels.kept]\ntype = "tcp"\ntargets = ["${one.address}"]\n`;
  save(`${kept}[tunnels.changed]\ntype = "tcp"\ntargets = ["${one.address}"]\n`);
  const agent = adit('--config', file, '--json');
  await agent.says(/"event":"established","kind":"tunnel","name":"changed"/);
  const before = await tunnels(id);
  const open = await visit(before[0]?.Port ?? 0);
  expect(await roundTrip(open, 'before')).toBe('before');
  save(`${kept}[tunnels.changed]\ntype = "tcp"\nport = ${port}\ntargets = ["${other}"]\n[hosts.new]\nhost = "new.config.test"\ntargets = ["${other}"]\n`);
  await agent.says(new RegExp(`"event":"established","kind":"tunnel","name":"changed","id":${before[1]?.Id},"port":${port}`));
  await agent.says(/"event":"established","kind":"host","name":"new"/);
  expect(await httpText({ port })).toBe('the other');
  expect(await httpText({ port: server().hostsPort, headers: { host: 'new.config.test' } })).toBe('the other');
  expect(await roundTrip(open, 'after')).toBe('after');

  save(`${kept}[tunnels.changed]\ntype = "tpc"\n`);
  const [line = ''] = await agent.says(/\{[^\n]*"problems":\["[^\n]*\n/);
  expect(JSON.parse(line)).toMatchObject({
    event: 'config',
    file,
    problems: [`${file}:7: tunnels.changed.type: must be "tcp", "udp", "httpProxy", "socks5", "file", "secret" or "p2p"`],
  });
  expect(await httpText({ port })).toBe('the other');
  save(kept);
  await agent.says(/"event":"withdrawn","kind":"tunnel","name":"changed"/);
  await agent.says(/"event":"withdrawn","kind":"host","name":"new"/);
  expect((await tunnels(id)).map(({ Id }) => Id)).toEqual([before[0]?.Id]);
  expect(await roundTrip(open, 'at the end')).toBe('at the end');
  for (const text of agent.output.trimEnd().split('\n').filter((text) => text.startsWith('{'))) {
    expect(JSON.parse(text)).toMatchObject({ event: expect.any(String), time: expect.any(String), text: expect.any(String) });
  }
});

test('entries can exchange their ports in one save, and another key begins a new session, which is logged', async () => {
  const { id, file, save } = await client();
  const [one, other] = [await startWeb('one'), await startWeb('other')];
  const [a, b] = [await freePort(), await freePort()];
  const entries = (first: number, second: number): string =>
    `[tunnels.one]\ntype = "tcp"\nport = ${first}\ntargets = ["${one}"]\n[tunnels.other]\ntype = "tcp"\nport = ${second}\ntargets = ["${other}"]\n`;
  save(entries(a, b));
  const agent = adit('--config', file);
  await agent.says(/tunnel other: .*\(id/);
  const from = agent.output.length;
  save(entries(b, a));
  await agent.says(new RegExp(`tunnel one: tcp on port ${b} `), from);
  await agent.says(new RegExp(`tunnel other: tcp on port ${a} `), from);
  expect([await httpText({ port: a }), await httpText({ port: b })]).toEqual(['other', 'one']);
  expect(agent.output).not.toMatch(/refuses/);

  await write(server(), '/client/edit/', { id, vkey: 'the next key' });
  writeFileSync(file, `server = "127.0.0.1:${server().bridgePort}"\nvkey = "the next key"\n${entries(b, a)}`);
  await agent.says(/has another vkey: the session with 127\.0\.0\.1:\d+ ends, and a new one begins/);
  await agent.says(new RegExp(`tunnel one: tcp on port ${b} `), agent.output.indexOf('has another vkey'));
  expect(agent.output).not.toMatch(/stopped/);
  agent.kill('SIGTERM');
  await agent.exited;
  expect(agent.output.match(/stopped/g)).toHaveLength(1);
});

const snapshot = z.object({
  config: z.string(),
  session: z.object({ connected: z.boolean() }),
  visitors: z.array(z.object({ name: z.string(), listen: z.string(), path: z.string().nullable() })),
  entries: z.array(
    z.object({
      kind: z.string(),
      name: z.string(),
      id: z.number(),
      type: z.string(),
      port: z.number(),
      targets: z.array(z.string()),
      running: z.boolean(),
      error: z.string(),
      health: z.unknown(),
    }),
  ),
});

test('--status shows a running agent, only to its user', async () => {
  const { id, file, save } = await client();
  const echo = await startEcho();
  const stored = await openTunnel(server(), id, echo.address);
  const dead = `127.0.0.1:${await refusedPort()}`;
  save(
    `[tunnels.a]\ntype = "tcp"\ntargets = ["${echo.address}", "${dead}"]\nhealth = { interval = 1, max_failed = 1 }\n[tunnels.b]\ntype = "tcp"\nport = ${stored.port}\ntargets = ["${echo.address}"]\n`
      + `[visitors.v]\ntype = "secret"\npassword = "nobody has it"\nlisten = 0\n`,
  );
  const nothing = adit('--status', '--config', file);
  expect(await nothing.exited).toMatchObject({ code: 1 });
  expect(nothing.output).toBe('no agent of this user is running\n');

  const agent = adit('--config', file);
  await agent.says(/tunnel b: the server refuses it/);
  await agent.says(/tunnel a: 127\.0\.0\.1:\d+ is out of rotation/);
  await eventuallyAsync(
    () => graphql(`{ tunnels(filter: { clientId: ${id} }) { rows { runtime { health { targets { healthy } } } } } }`),
    (answer) => JSON.stringify(answer).includes('"healthy":false'),
  );
  const asked = adit('--status', '--config', file, '--json');
  expect(await asked.exited).toMatchObject({ code: 0 });
  const reported = snapshot.parse(JSON.parse(asked.output));
  expect(reported).toMatchObject({
    config: file,
    session: { connected: true },
    visitors: [{ name: 'v', listen: expect.stringMatching(/^127\.0\.0\.1:\d+$/) }],
  });
  const own = (await tunnels(id)).find(({ NoStore }) => NoStore);
  expect(reported.entries).toEqual([
    { kind: 'tunnel', name: '', id: stored.id, type: 'tcp', port: stored.port, targets: [echo.address], running: true, error: '', health: null },
    {
      kind: 'tunnel',
      name: 'a',
      id: own?.Id,
      type: 'tcp',
      port: own?.Port,
      targets: [echo.address, dead],
      running: true,
      error: '',
      health: { healthy: 1, targets: 2 },
    },
    {
      kind: 'tunnel',
      name: 'b',
      id: 0,
      type: 'tcp',
      port: 0,
      targets: [echo.address],
      running: false,
      error: expect.stringContaining('The port cannot be opened'),
      health: null,
    },
  ]);
  const forPeople = adit('--status');
  await forPeople.exited;
  expect(forPeople.output).toMatch(/connected to 127\.0\.0\.1:\d+ as client \d+, since/);
  expect(forPeople.output).toMatch(new RegExp(`tunnel +a +${own?.Id} +tcp +${own?.Port} +${echo.address}, ${dead} +running, 1 of 2 targets healthy +0`));
  expect(statSync(path.join(runtime, `adit-agent-${agent.pid}.sock`)).mode & 0o777).toBe(0o600);
  expect(statSync(runtime).mode & 0o777).toBe(0o700);
});

test('--check prints what a file would do, or its problems', async () => {
  const { file, save } = await client();
  save('[tunnels.a]\ntype = "tcp"\nport = 2222\ntargets = ["22"]\n[visitors.v]\ntype = "p2p"\npassword = "hush"\nlisten = 4000\n');
  const right = adit('--check', '--config', file);
  expect(await right.exited).toMatchObject({ code: 0 });
  expect(right.output.split('\n')).toEqual([
    `${file} is right. It would`,
    `  connect to 127.0.0.1:${server().bridgePort} as an agent`,
    '  declare tunnel a: tcp on port 2222 to 22',
    `  open 127.0.0.1:4000 for visitor v, to a p2p tunnel by way of 127.0.0.1:${server().bridgePort}`,
    '',
  ]);
  save('[tunnels.a]\ntype = "file"\nlocal_path = "x"\ntargets = []\nvkey_file = "/nowhere"\n');
  const wrong = adit('--check', '--config', file, '--json');
  expect(await wrong.exited).toMatchObject({ code: 1 });
  const problems = [`${file}:6: tunnels.a.targets: only for tunnels of type tcp, udp, secret, p2p`, `${file}:7: tunnels.a.vkey_file: unknown key`];
  expect(JSON.parse(wrong.output)).toEqual({ file, ok: false, problems });
  const forPeople = adit('--check', '--config', file);
  expect(await forPeople.exited).toMatchObject({ code: 1 });
  expect(forPeople.output).toBe(`${problems.join('\n')}\n`);
  const started = adit('--config', file);
  expect(await started.exited).toMatchObject({ code: 1 });
  expect(started.output).toBe(`${file}:6: tunnels.a.targets: only for tunnels of type tcp, udp, secret, p2p\n${file}:7: tunnels.a.vkey_file: unknown key\n`);
});

test('declared records are deleted when the agent or the server is killed', async () => {
  const { id, file, save } = await client({ max_tunnel: 2 });
  const echo = await startEcho();
  save(`[tunnels.a]\ntype = "tcp"\ntargets = ["${echo.address}"]\n[hosts.b]\nhost = "gone.config.test"\ntargets = ["${echo.address}"]\n`);
  const killed = adit('--config', file);
  await killed.says(/host b: .*\(id/);
  const [row] = await tunnels(id);
  const open = await visit(row?.Port ?? 0);
  killed.kill('SIGKILL');
  await closed(open);
  await eventuallyAsync(async () => [...await tunnels(id), ...await hosts(id)], (rows) => rows.length === 0);
  await expect(visit(row?.Port ?? 0)).rejects.toThrow('ECONNREFUSED');

  const back = adit('--config', file);
  await back.says(/host b: .*\(id/);
  server().child.kill('SIGKILL');
  await server().child.exited;
  await back.end();
  await startAgain();
  expect([...await tunnels(id), ...await hosts(id)]).toEqual([]);
  // The quota is free again.
  await openTunnel(server(), id, echo.address);
  await openTunnel(server(), id, echo.address);
});
