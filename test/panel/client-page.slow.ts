import net from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { AddressInfo, Server, Socket } from 'node:net';
import { startAgent } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { accessibilityProblems } from './axe.ts';
import { answer, choose, hides, listsRows, press, shows, testPanel } from './panel.ts';

// Short form: test/panel/first-visit.test.ts

describeWith('chromium', 'the page of a client', () => {
  const panel = testPanel('/adit', 'https://127.0.0.1');
  let target: Server;
  let client = 0;
  let tunnelPort = 0;
  const visitors: Socket[] = [];
  beforeAll(async () => {
    target = net.createServer((socket) => socket.on('error', () => undefined).pipe(socket)).listen(0, '127.0.0.1');
    client = await panel.write('/client/add/', { vkey: 'key of the page', remark: 'the machine', flow_limit: 100, max_conn: 10, max_tunnel: 5 });
    const address = `127.0.0.1:${(target.address() as AddressInfo).port}`;
    await panel.write('/index/add/', { client_id: client, type: 'tcp', port: 0, target: address, remark: 'echo' });
    await panel.write('/index/addhost/', { client_id: client, host: 'page.example.com', target: address, scheme: 'http' });
    await startAgent(panel.server(), 'key of the page');
  });
  afterAll(() => {
    for (const visitor of visitors) visitor.destroy();
    target.close();
  });

  test('shows the agent, and how to run it as a command, a systemd unit and a configuration file', async () => {
    const { page, complaints } = await panel.open(`/clients/${client}`);
    await shows(page, 'Online');
    await shows(page, 'the same as the server');
    const commandOf = (): Promise<string> => page.$eval('.cmd pre', (element) => element.textContent ?? '');
    expect(await commandOf()).not.toContain('key of the page');
    await press(page, 'systemd unit');
    await shows(page, '/etc/systemd/system/adit-agent.service');
    expect(await commandOf()).toContain('ExecStart=/usr/bin/env node /usr/local/lib/adit-agent/adit-agent.mjs agent --server');
    await press(page, 'Configuration file');
    await press(page, 'Show the key');
    expect(await commandOf()).toContain('vkey = "key of the page"');
    await press(page, 'Copy');
    await shows(page, 'Copied');
    expect(complaints).toEqual([]);
  });

  test('creates the line that installs the agent, shows it once, lists its code, and revokes it', async () => {
    const { page, complaints } = await panel.open(`/clients/${client}`);
    const newCode = async (former: string): Promise<string> => {
      await press(page, 'Create an installation line');
      const command = await page.waitForFunction(
        (known) => {
          const text = document.querySelector('.cmd pre')?.textContent ?? '';
          return text.includes('adit-enrol_') && (known === '' || !text.includes(known)) && text;
        },
        {},
        former,
      );
      const line = await command.jsonValue();
      expect(line).toMatch(/^curl -fsSL 'https:\/\/127\.0\.0\.1\/adit\/agent\/install\.sh' \| sh -s -- adit-enrol_\S+$/);
      return /adit-enrol_\S+/.exec(String(line))?.[0] ?? '';
    };
    const use = async (code: string): Promise<number> => {
      const body = new URLSearchParams({ code, machine: 'm'.repeat(32) });
      return (await fetch(`${panel.origin()}/agent/enrol`, { method: 'POST', body, headers: { connection: 'close' } })).status;
    };
    await press(page, 'Install');
    const first = await newCode('');
    await shows(page, 'it is shown only once');
    await shows(page, 'not used, works until');
    expect(await accessibilityProblems(page)).toEqual([]);
    expect(await use(first)).toBe(200);
    await shows(page, 'from 127.0.0.1');

    const second = await newCode(first);
    await shows(page, 'not used, works until');
    await page.click('[aria-label="Installation codes"] li button');
    await shows(page, 'no longer works');
    await answer(page, 'Revoke');
    await hides(page, 'not used, works until');
    await hides(page, second);
    expect(await use(second)).toBe(403);
    expect(complaints).toEqual([]);
  });

  test('lists its tunnels and hosts, and leads from there to new ones', async () => {
    const { page } = await panel.open(`/clients/${client}/tunnels`);
    await listsRows(page, ['echo']);
    tunnelPort = Number(await page.$eval('tbody tr[data-row]', (row) => /127\.0\.0\.1:(\d+)/.exec(row.textContent ?? '')?.[1]));
    expect(tunnelPort).toBeGreaterThan(0);
    await press(page, 'New tunnel');
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>('#field-clientId')?.value.startsWith('the machine'));
    await page.goto(`${panel.origin()}/clients/${client}/hosts`);
    await shows(page, 'http://page.example.com');
    await press(page, 'New host');
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>('#field-clientId')?.value.startsWith('the machine'));
  });

  test('shows open connections once a second, and disconnects one', async () => {
    const { page, complaints } = await panel.open(`/clients/${client}/connections`);
    await shows(page, 'No open connections');
    const visitor = net.connect(tunnelPort, '127.0.0.1');
    visitors.push(visitor);
    const isClosed = new Promise((resolve) => visitor.on('close', resolve).on('error', () => undefined));
    visitor.write('hello');
    await page.waitForSelector('tbody tr[data-row]');
    await shows(page, 'echo');
    expect(await accessibilityProblems(page)).toEqual([]);
    await press(page, 'Disconnect: 127.0.0.1');
    await shows(page, 'The connection through echo ends at once');
    await answer(page, 'Disconnect');
    await isClosed;
    await shows(page, 'No open connections');
    expect(complaints).toEqual([]);
  });

  test('shows traffic over time as a chart and as a table, its limits, and who changed it', async () => {
    const { page, complaints } = await panel.open(`/clients/${client}/traffic`);
    await page.waitForSelector('canvas');
    await press(page, '24 h');
    await page.waitForFunction(() => document.querySelector('[role=img]')?.getAttribute('aria-label')?.includes('24 h'));
    await shows(page, 'No visitors were refused in this period.');
    await press(page, 'Limits');
    await shows(page, '2 of 5');
    await shows(page, 'of 100 MiB');
    await press(page, 'Changes');
    await shows(page, 'created');
    await press(page, 'Edit');
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>('#field-maxConnections')?.value === '10');
    expect(complaints).toEqual([]);
  });

  test('shows the visitors that it refused, by time and cause', async () => {
    await panel.write('/client/edit/', { id: client, max_conn: 10, blackiplist: '127.0.0.1' });
    await new Promise((resolve) => {
      net.connect(tunnelPort, '127.0.0.1').on('error', () => undefined).on('close', resolve);
    });
    const { page, complaints } = await panel.open(`/clients/${client}/traffic`);
    await page.waitForSelector('[aria-labelledby=h-refusals] tbody tr[data-row]');
    await shows(page, 'on the blocklist 1');
    expect(await accessibilityProblems(page)).toEqual([]);
    await panel.write('/client/edit/', { id: client, blackiplist: '' });
    expect(complaints).toEqual([]);
  });

  test('disables, enables and deletes the client', async () => {
    const gone = await panel.write('/client/add/', { vkey: 'key to delete', remark: 'short-lived' });
    const { page, complaints } = await panel.open(`/clients/${gone}`);
    await shows(page, 'The agent has never connected.');
    await choose(page, 'Actions for short-lived', 'Disable');
    await answer(page, 'Disable');
    await shows(page, 'This client is disabled.');
    await choose(page, 'Actions for short-lived', 'Enable');
    await shows(page, 'The agent has never connected.');
    await choose(page, 'Actions for short-lived', 'Reset the counters');
    await shows(page, 'The totals of both directions start again at 0');
    await answer(page, 'Reset the counters');
    await shows(page, 'Counters reset');
    await choose(page, 'Actions for short-lived', 'Delete');
    await answer(page, 'Delete 1 client');
    await page.waitForFunction(() => location.pathname === '/adit/clients');
    await page.goto(`${panel.origin()}/clients/${gone}`);
    await shows(page, 'This record does not exist');
    expect(complaints).toEqual([]);
  });

  test('a tunnel and a host show their state and traffic above their forms', async () => {
    const { page, complaints } = await panel.open(`/clients/${client}/tunnels`);
    await press(page, 'echo');
    await shows(page, 'Tunnel echo');
    await page.waitForFunction(() => document.querySelector('#h-state')?.parentElement?.textContent?.includes('Serves'));
    await page.waitForSelector('canvas');
    await page.goto(`${panel.origin()}/clients/${client}/hosts`);
    await page.waitForSelector('tbody th .name');
    await page.click('tbody th .name');
    await page.waitForSelector('#h-certificate');
    await page.waitForFunction(() => document.querySelector('#h-state')?.parentElement?.textContent?.includes('Serves'));
    expect(complaints).toEqual([]);
  });

  test('shows when the agent came and left, and why', async () => {
    const { page, complaints } = await panel.open(`/clients/${client}/sessions`);
    await shows(page, 'Online since');
    await shows(page, 'without TLS');
    await page.waitForSelector('tbody tr[data-row]');
    expect(await accessibilityProblems(page)).toEqual([]);
    await panel.write('/client/changestatus/', { id: client, status: 0 });
    await shows(page, 'Why it left');
    await shows(page, 'The client was disabled');
    expect(complaints).toEqual([]);
  });
});
