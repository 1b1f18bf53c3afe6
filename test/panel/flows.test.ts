import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'puppeteer-core';
import { testBrowser } from '../support/browser.ts';
import { type Child, endChildren } from '../support/child.ts';
import { type ServerProcess, startAgent, startServer, write } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { removeScratchDirectories } from '../support/scratch.ts';
import { accessibilityProblems } from './axe.ts';

const password = 'the password of the panel';

/** Waits until the page shows a text. */
async function shows(page: Page, text: string): Promise<void> {
  // A page that is being replaced by the next one has no body for a moment.
  await page.waitForFunction((wanted) => document.querySelector('body')?.innerText.includes(wanted) === true, {}, text);
}

/** Presses the first visible button or link with this text. */
async function press(page: Page, text: string): Promise<void> {
  const handle = await page.waitForFunction(
    (wanted) =>
      [...document.querySelectorAll<HTMLElement>('button, a, summary, [role=menuitem]')].find((item) =>
        item.innerText.trim() === wanted && item.checkVisibility()
      ),
    {},
    text,
  );
  await handle.asElement()?.evaluate((item) => (item as HTMLElement).click());
}

/** Enters a text into the field with this label, instead of what it contained. */
async function enter(page: Page, label: string, text: string): Promise<void> {
  const field = await page.waitForSelector(`::-p-aria(${label})`);
  await field?.click({ count: 3 });
  await field?.press('Backspace');
  if (text !== '') await field?.type(text);
}

async function logIn(page: Page, name: string, secret: string): Promise<void> {
  await page.waitForSelector('input[name=username]');
  await page.type('input[name=username]', name);
  await page.type('input[name=password]', secret);
  await page.click('form button');
}

describeWith('chromium', 'the panel', () => {
  const browser = testBrowser();
  let server: ServerProcess;
  let target: http.Server;
  let origin: string;
  beforeAll(async () => {
    target = http.createServer((_request, response) => response.end('x'.repeat(50_000))).listen(0, '127.0.0.1');
    server = await startServer({ environment: { ADIT_ADMIN_PASSWORD: password, ADIT_PUBLIC_URL: 'http://127.0.0.1', ADIT_BASE_PATH: '/adit' } });
    origin = `http://127.0.0.1:${server.httpPort}/adit`;
  }, 60_000);
  afterAll(async () => {
    target.close();
    await endChildren();
    removeScratchDirectories();
  });
  const targetAddress = (): string => `127.0.0.1:${(target.address() as AddressInfo).port}`;

  describe('on a fresh server', () => {
    let agent: Child | undefined;

    test('the first visit leads from the login through client, agent and tunnel to the first bytes; then the agent leaves and comes back', async () => {
      const { page, complaints } = await browser.open(`${origin}/`);
      await logIn(page, 'admin', password);
      await shows(page, 'What is the machine called?');
      expect(new URL(page.url()).pathname).toBe('/adit/welcome');
      await press(page, 'Create the client');
      await shows(page, 'Enter a value.');
      await enter(page, 'What is the machine called?', 'first machine');
      await press(page, 'Create the client');
      await shows(page, 'Waiting for the agent');
      await press(page, 'Show the key');
      const command = await page.$eval('.cmd pre', (element) => element.textContent ?? '');
      const key = /ADIT_VKEY='?([^' ]+)/.exec(command)?.[1] ?? '';
      expect(command).toContain(`--server 127.0.0.1:${server.tlsPort} --tls-fingerprint ${server.fingerprint}`);
      agent = await startAgent(server, key, {}, 'pinned');
      await shows(page, 'What shall visitors reach');
      expect(await accessibilityProblems(page)).toEqual([]);
      await enter(page, 'Target', targetAddress());
      await press(page, 'Create it');
      await shows(page, 'Waiting for the first visitor');
      const entry = await page.evaluate(() => /Open (127\.0\.0\.1:\d+)/.exec(document.body.innerText)?.[1] ?? '');
      await (await fetch(`http://${entry}/`, { headers: { connection: 'close' } })).text();
      await shows(page, 'have passed');
      await page.waitForSelector('canvas');
      await page.waitForFunction(() => /at most (?!0 B)/.test(document.querySelector('[role=img]')?.getAttribute('aria-label') ?? ''));

      await press(page, 'first machine');
      await shows(page, 'Online');
      await agent.end();
      await shows(page, 'The agent is away since');
      agent = await startAgent(server, key, {}, 'pinned');
      await page.waitForFunction(() => !document.body.innerText.includes('The agent is away') && document.querySelector('.badge-ok') !== null);
      // The login that is needed first is the browser's own complaint.
      expect(complaints.filter((text) => !text.includes('401'))).toEqual([]);
    }, 120_000);
  });

  test('a refused form shows each problem at its field, keeps what was typed, and saves after the correction', async () => {
    const client = await write({ httpPort: server.httpPort }, '/adit/client/add/', { vkey: 'key of the forms', remark: 'forms' });
    const { page } = await browser.open(`${origin}/tunnels/new?client=${client}`);
    await logIn(page, 'admin', password);
    await shows(page, 'From where to where');
    await enter(page, 'Note optional', 'kept');
    await enter(page, 'Port of the server optional', '70000');
    await enter(page, 'Targets', 'no-port');
    await press(page, 'Create the tunnel');
    await shows(page, 'Nothing was saved');
    const problems = await page.$$eval('[aria-invalid=true]', (fields) => fields.map(({ id }) => id));
    expect(problems).toContain('field-port');
    expect(await accessibilityProblems(page)).toEqual([]);
    await enter(page, 'Port of the server optional', '');
    await press(page, 'Create the tunnel');
    await page.waitForFunction(() => document.querySelector('#field-targets')?.getAttribute('aria-invalid') === 'true');
    expect(await page.$eval('#field-remark', (field) => (field as HTMLInputElement).value)).toBe('kept');
    await enter(page, 'Targets', targetAddress());
    await press(page, 'Create the tunnel');
    await shows(page, 'Tunnel kept');
  }, 120_000);

  test('the diagnosis of a mistyped host says that nothing matches, and offers the right one', async () => {
    const client = await write({ httpPort: server.httpPort }, '/adit/client/add/', { vkey: 'key of the hosts', remark: 'hosts' });
    await write({ httpPort: server.httpPort }, '/adit/index/addhost/', { client_id: client, host: 'shop.example.com', target: targetAddress(), scheme: 'all' });
    const { page } = await browser.open(`${origin}/diagnosis`);
    await logIn(page, 'admin', password);
    await shows(page, 'What happens to a visitor');
    await page.goto(`${origin}/index/hostdiagnose/?host=shpo.example.com&path=/&scheme=http`);
    await shows(page, 'Visitors are stopped here: Route.');
    expect(await accessibilityProblems(page)).toEqual([]);
    await press(page, 'shop.example.com/');
    await shows(page, 'Visitors are stopped here: Agent.');
  }, 120_000);

  test('a user and the web login of a client see what is theirs, and nothing that they may never use', async () => {
    const api = { httpPort: server.httpPort };
    const user = await write(api, '/adit/user/add/', { username: 'alice', password: 'password of alice' });
    const own = await write(api, '/adit/client/add/', {
      vkey: 'key of alice',
      remark: 'of alice',
      user_id: user,
      web_username: 'web',
      web_password: 'web password',
    });
    const alice = await browser.open(`${origin}/clients`);
    await logIn(alice.page, 'alice', 'password of alice');
    await shows(alice.page, 'of alice');
    expect(await alice.page.$$eval('.sidebar .nav-link', (links) => links.map((link) => link.getAttribute('href')))).toEqual([
      '/adit/',
      '/adit/clients',
      '/adit/tunnels',
      '/adit/hosts',
      '/adit/diagnosis',
      '/adit/tokens',
    ]);
    expect(await alice.page.$$eval('tbody tr', (rows) => rows.length)).toBe(1);
    await alice.page.evaluate(() => fetch('/adit/login/out'));
    await alice.page.goto(`${origin}/`);
    await logIn(alice.page, 'web', 'web password');
    await shows(alice.page, 'Run its agent');
    expect(new URL(alice.page.url()).pathname).toBe(`/adit/clients/${own}`);
    expect(await alice.page.$$eval('.sidebar .nav-link', (links) => links.length)).toBe(2);
    expect(await accessibilityProblems(alice.page)).toEqual([]);
  }, 120_000);

  test('the keyboard alone creates a client, and the palette finds it by its note', async () => {
    const { page } = await browser.open(`${origin}/`);
    await logIn(page, 'admin', password);
    await page.waitForSelector('.sidebar');
    await page.keyboard.press('g');
    await page.keyboard.press('c');
    await shows(page, 'Agents behind NAT');
    await page.keyboard.press('n');
    await page.waitForSelector('#field-remark');
    await page.focus('#field-remark');
    await page.keyboard.type('made by keyboard');
    await page.keyboard.down('Control');
    await page.keyboard.press('Enter');
    await page.keyboard.up('Control');
    await shows(page, 'The agent has never connected.');
    await page.keyboard.down('Control');
    await page.keyboard.press('k');
    await page.keyboard.up('Control');
    await page.waitForSelector('[role=combobox]');
    await page.keyboard.type('by keyboard');
    await page.waitForFunction(() => document.querySelector('[role=option][aria-selected=true]')?.textContent?.includes('made by keyboard'));
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await shows(page, 'made by keyboard');
    expect(new URL(page.url()).pathname).toMatch(/^\/adit\/clients\/\d+$/);
  }, 120_000);

  test('a list in Chinese, dark and narrow has no accessibility problem and does not scroll sideways', async () => {
    const { page } = await browser.open(`${origin}/clients`);
    // Without a session the page leads to the login: only there nothing replaces it while a test evaluates.
    await page.waitForSelector('input[name=username]');
    await page.setViewport({ width: 360, height: 740 });
    await page.evaluate(() => {
      localStorage.setItem('adit.language', 'zh');
      localStorage.setItem('adit.theme', 'dark');
    });
    await page.reload();
    await logIn(page, 'admin', password);
    await shows(page, '新建客户端');
    expect(await page.evaluate(() => document.documentElement.lang)).toBe('zh-Hans');
    await page.waitForSelector('tbody tr[data-row]');
    expect(await accessibilityProblems(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth)).toBe(true);
  }, 120_000);

  test('a restart of the server is shown, and the page recovers by itself; a session that ended asks for a login above the page', async () => {
    const { page } = await browser.open(`${origin}/clients`);
    await logIn(page, 'admin', password);
    await page.waitForSelector('tbody tr[data-row]');
    await server.child.end();
    await shows(page, 'No connection to the server since');
    server = await startServer({
      dataDir: server.dataDir,
      httpPort: server.httpPort,
      bridgePort: server.bridgePort,
      tlsPort: server.tlsPort,
      environment: { ADIT_ADMIN_PASSWORD: password, ADIT_PUBLIC_URL: 'http://127.0.0.1', ADIT_BASE_PATH: '/adit' },
    });
    await page.waitForFunction(() => !document.body.innerText.includes('No connection to the server'));
    await press(page, 'New client');
    await page.waitForSelector('#field-remark');
    await page.type('#field-remark', 'typed before');
    await page.evaluate(() => fetch('/adit/login/out'));
    await press(page, 'Create the client');
    await shows(page, 'Your session has ended');
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.type('input[name=username]', 'admin');
    await page.type('input[name=password]', password);
    await page.click('.login-dialog form button');
    await page.waitForFunction(() => document.querySelector('.login-dialog') === null);
    await press(page, 'Create the client');
    await shows(page, 'typed before');
    await shows(page, 'The agent has never connected.');
  }, 120_000);
});
