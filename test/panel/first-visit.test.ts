import { writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Child } from '../support/child.ts';
import { startAgent } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { accessibilityProblems } from './axe.ts';
import { enter, listsRows, logIn, password, press, shows, testPanel } from './panel.ts';

describeWith('chromium', 'the panel of a fresh server', () => {
  const panel = testPanel();
  let target: http.Server;
  beforeAll(() => {
    target = http.createServer((_request, response) => response.end('x'.repeat(50_000))).listen(0, '127.0.0.1');
  });
  afterAll(() => void target.close());

  test('the first visit leads from the login through client, agent and tunnel to the first bytes; then the agent leaves and comes back', async () => {
    const { page, complaints } = await panel.openLoggedOut('/');
    await logIn(page, 'admin', password);
    await shows(page, 'What is the machine called?');
    expect(new URL(page.url()).pathname).toBe('/adit/welcome');
    await press(page, 'Create the client');
    await shows(page, 'Enter a value.');
    await enter(page, 'What is the machine called?', 'first machine');
    await press(page, 'Create the client');
    await shows(page, 'Waiting for the agent');
    await press(page, 'Install');
    await press(page, 'Create an installation line');
    await shows(page, 'This API is not reached over HTTPS');
    await press(page, 'Command');
    await press(page, 'Show the key');
    const command = await page.$eval('.cmd pre', (element) => element.textContent ?? '');
    const key = /ADIT_VKEY='?([^' ]+)/.exec(command)?.[1] ?? '';
    expect(command).toContain(`--server 127.0.0.1:${panel.server().tlsPort} --tls-fingerprint ${panel.server().fingerprint}`);
    const link = await page.$eval('a[download]', (element) => element.href);
    expect(link).toBe(`${panel.origin()}/agent/adit-agent.mjs`);
    const machine = scratchDirectory();
    writeFileSync(path.join(machine, 'adit-agent.mjs'), await (await fetch(link, { headers: { connection: 'close' } })).bytes());
    // env, so that the shell becomes the agent, which then ends with it.
    const agent = new Child('/bin/sh', ['-c', `cd '${machine}' && exec env ${command}`]);
    await shows(page, 'What should visitors reach');
    await enter(page, 'Target', `127.0.0.1:${(target.address() as AddressInfo).port}`);
    await press(page, 'Create it');
    await shows(page, 'Waiting for the first visitor');
    const entry = await page.evaluate(() => /Open (127\.0\.0\.1:\d+)/.exec(document.body.innerText)?.[1] ?? '');
    await (await fetch(`http://${entry}/`, { headers: { connection: 'close' } })).text();
    await shows(page, 'have arrived');
    await page.waitForSelector('canvas');
    await page.waitForFunction(() => /at most (?!0 B)/.test(document.querySelector('[role=img]')?.getAttribute('aria-label') ?? ''));

    await press(page, 'first machine');
    await shows(page, 'Online');
    await agent.end();
    await shows(page, 'The agent has been away since');
    await startAgent(panel.server(), key, {}, 'pinned');
    await page.waitForFunction(() => !document.body.innerText.includes('The agent has been away') && document.querySelector('.badge-ok') !== null);
    await press(page, 'Clients');
    await listsRows(page, ['first machine']);
    expect(await accessibilityProblems(page)).toEqual([]);
    // The login that is needed first is the browser's own complaint.
    expect(complaints.filter((text) => !text.includes('401'))).toEqual([]);
  });
});
