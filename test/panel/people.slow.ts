import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'puppeteer-core';
import { eventually } from '../support/eventually.ts';
import { describeWith } from '../support/programs.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { accessibilityProblems } from './axe.ts';
import { answer, choose, enter, hides, listsRows, logIn, password, press, problemsAt, shows, testPanel } from './panel.ts';

// Short form: test/panel/first-visit.test.ts

/** Addresses that show the viewer neither a page nor a form. */
async function hasNoPages(page: Page, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await page.goto(new URL(`/adit/${name}`, page.url()).href);
    await shows(page, 'There is no page at this address');
    expect(await page.$$('main button, main form')).toEqual([]);
  }
}

describeWith('chromium', "the panel's pages about people", () => {
  const panel = testPanel();
  let alice = 0;
  let own = 0;
  beforeAll(async () => {
    alice = await panel.write('/user/add/', { username: 'alice', password: 'password of alice', max_client: 2, max_tunnel: 10 });
    own = await panel.write('/client/add/', {
      vkey: 'key of alice',
      remark: 'of alice',
      user_id: alice,
      flow_limit: 100,
      web_username: 'web',
      web_password: 'web password',
    });
    await panel.write('/client/add/', { vkey: 'key of nobody', remark: 'of nobody' });
  });

  test('users show how full their quotas are, and are disabled, changed and deleted', async () => {
    await panel.write('/user/add/', { username: 'bob', password: 'password of bob', max_client: 1 });
    const { page, complaints } = await panel.open('/users');
    await listsRows(page, ['alice', 'bob']);
    await shows(page, '1 of 2');
    await shows(page, '0 of 10');
    await choose(page, 'Actions for alice', 'Disable');
    await shows(page, 'Nothing is in use at the moment.');
    expect(await accessibilityProblems(page)).toEqual([]);
    await answer(page, 'Keep as is');
    await choose(page, 'Actions for bob', 'Disable');
    await answer(page, 'Disable');
    await page.waitForFunction(() => [...document.querySelectorAll('tbody tr[data-row]')].some((row) => row.textContent?.includes('Disabled')));
    // With the number of those that are.
    await page.$$eval('.seg button', (buttons) => buttons.find(({ innerText }) => innerText.startsWith('Disabled'))?.click());
    await listsRows(page, ['bob']);
    await press(page, 'bob');
    await page.waitForSelector('#field-maxClients');
    await enter(page, 'Maximum clients optional', '7');
    await press(page, 'Save');
    await shows(page, '0 of 7');
    await choose(page, 'Actions for bob', 'Delete');
    await answer(page, 'Delete bob');
    await listsRows(page, ['alice']);
    expect(complaints).toEqual([]);
  });

  test('a token is shown once, works, and is revoked', async () => {
    const { page, complaints } = await panel.open('/tokens');
    await shows(page, 'No tokens yet');
    await press(page, 'Create the token');
    await problemsAt(page, ['name']);
    await enter(page, 'Name', 'the script');
    await press(page, 'Create the token');
    await shows(page, 'It is shown only once');
    expect(await accessibilityProblems(page)).toEqual([]);
    const token = await page.$eval('.cmd pre', (element) => element.textContent ?? '');
    const ask = () =>
      fetch(`${panel.origin()}/graphql`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', connection: 'close' },
        body: JSON.stringify({ query: '{ viewer { readOnly secrets } }' }),
      });
    expect(await (await ask()).json()).toEqual({ data: { viewer: { readOnly: true, secrets: false } } });
    await page.reload();
    await shows(page, 'reads only, without secrets');
    await hides(page, token);
    const other = await panel.open('/tokens');
    await shows(other.page, 'the script');
    await page.bringToFront();
    await press(page, 'Revoke: the script');
    await answer(page, 'Revoke');
    await shows(page, 'No tokens yet');
    await other.page.bringToFront();
    await press(other.page, 'Revoke: the script');
    await answer(other.page, 'Revoke');
    await shows(other.page, 'This record no longer exists.');
    expect(await accessibilityProblems(other.page)).toEqual([]);
    expect((await ask()).status).toBe(401);
    expect(complaints).toEqual([]);
  });

  test('the audit log is filtered, shows differences, announces new entries, and is downloaded', async () => {
    const changed = await panel.write('/client/add/', { vkey: 'key of the audit', remark: 'before' });
    await panel.write('/client/edit/', { id: changed, remark: 'after' });
    const { page, complaints } = await panel.open('/audit');
    await shows(page, 'Client “after” changed');
    await page.select('#filter-did', 'UPDATE');
    await hides(page, 'Client “before” created');
    await page.select('#filter-what', 'CLIENT');
    await page.click('.entry > summary');
    await page.waitForFunction(() =>
      document.querySelector('.diff del')?.textContent === 'before' && document.querySelector('.diff ins')?.textContent === 'after'
    );
    expect(await accessibilityProblems(page)).toEqual([]);
    await press(page, 'Only this record');
    await page.waitForFunction(() => document.querySelectorAll('.entry').length === 1);
    expect(new URL(page.url()).searchParams.get('id')).toBe(String(changed));
    await page.type('.toolbar input[type=search]', 'AFTER');
    await page.waitForFunction(() => new URL(location.href).searchParams.get('q') === 'AFTER' && document.querySelectorAll('.entry').length === 1);

    const directory = scratchDirectory();
    const session = await page.createCDPSession();
    await session.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: directory, browserContextId: page.browserContext().id ?? '' });
    await press(page, 'Download (JSON)');
    const file = path.join(directory, `adit-audit-${new Date().toISOString().slice(0, 10)}.ndjson`);
    const lines = await eventually(() => existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [], (found) => found.length === 2);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ resource: 'CLIENT', action: 'UPDATE', resourceId: String(changed), after: { remark: 'after' } });

    await page.goto(`${panel.origin()}/audit?what=CLIENT`);
    await page.waitForSelector('.entry');
    await panel.write('/client/edit/', { id: changed, remark: 'later' });
    await shows(page, '1 new entry');
    await hides(page, 'Client “later” changed');
    await press(page, 'Show them');
    await shows(page, 'Client “later” changed');
    expect(complaints).toEqual([]);
  });

  test('sessions are listed and ended', async () => {
    const other = await panel.openLoggedOut('/login/index');
    await logIn(other.page, 'alice', 'password of alice');
    await other.page.waitForSelector('.sidebar');
    await other.page.browserContext().deleteCookie(...await other.page.browserContext().cookies());
    const { page } = await panel.open('/sessions');
    await shows(page, 'this session');
    await shows(page, 'alice');
    expect(await accessibilityProblems(page)).toEqual([]);
    await press(page, 'End: alice');
    await answer(page, 'End');
    await shows(page, 'Session ended');
    await page.waitForFunction(() => document.querySelectorAll('tbody tr[data-row]').length === 1);
  });

  test('a user and the web login of a client see what is theirs, and nothing that they may never use', async () => {
    const { page } = await panel.open('/clients', 'alice', 'password of alice');
    await listsRows(page, ['of alice']);
    expect(await page.$$eval('.sidebar .nav-link', (links) => links.map((link) => link.getAttribute('href')))).toEqual([
      '/adit/',
      '/adit/clients',
      '/adit/tunnels',
      '/adit/hosts',
      '/adit/diagnosis',
      '/adit/tokens',
    ]);
    await page.goto(`${panel.origin()}/clients/${own}`);
    // The counters decide when the traffic limit is used up.
    await press(page, 'Actions for of alice');
    await page.waitForSelector('[role=menu]');
    expect(await page.$$eval('[role=menuitem]', (items) => items.map((item) => item.textContent))).toEqual(['Disable', 'Delete']);
    await page.keyboard.press('Escape');
    await hasNoPages(page, ['users', 'settings', 'audit']);
    const login = await panel.open('/', 'web', 'web password');
    await shows(login.page, 'Run its agent');
    // The API refuses it installation codes.
    expect(await login.page.$$eval('[aria-labelledby=h-command] .seg button', (buttons) => buttons.map(({ innerText }) => innerText))).toEqual([
      'Command',
      'systemd unit',
      'Configuration file',
    ]);
    expect(new URL(login.page.url()).pathname).toBe(`/adit/clients/${own}`);
    expect(await login.page.$$eval('.sidebar .nav-link', (links) => links.length)).toBe(2);
    expect(await accessibilityProblems(login.page)).toEqual([]);
    await press(login.page, 'New tunnel');
    await shows(login.page, 'From where to where');
    expect(await login.page.$('.crumbs')).toBeNull();
    await hasNoPages(login.page, ['users', 'tokens']);
  });

  test('a user changes the own password', async () => {
    await panel.write('/user/add/', { username: 'carol', password: 'password of carol' });
    const { page, complaints } = await panel.open('/account', 'carol', 'password of carol');
    await page.waitForSelector('#field-currentPassword');
    await enter(page, 'Current password', 'not it');
    await enter(page, 'New password', 'the next one');
    await enter(page, 'New password again', 'another one');
    await press(page, 'Change the password');
    await problemsAt(page, ['confirmation']);
    await enter(page, 'New password again', 'the next one');
    await press(page, 'Change the password');
    await problemsAt(page, ['currentPassword']);
    expect(await accessibilityProblems(page)).toEqual([]);
    await enter(page, 'Current password', 'password of carol');
    await press(page, 'Change the password');
    await shows(page, 'Password changed');
    expect(complaints).toEqual([]);
    const again = await panel.openLoggedOut('/login/index');
    await logIn(again.page, 'carol', 'the next one');
    await again.page.waitForSelector('.sidebar');
  });

  test('the login says what is missing and what is wrong', async () => {
    const { page } = await panel.openLoggedOut('/tokens');
    await page.click('form button');
    await shows(page, 'Enter your name.');
    expect(await accessibilityProblems(page)).toEqual([]);
    await logIn(page, 'admin', 'wrong');
    await shows(page, 'The name or the password is wrong.');
    expect(await accessibilityProblems(page)).toEqual([]);
    await enter(page, 'Password', password);
    await page.click('form button');
    // Back to the page that was asked for.
    await shows(page, 'Programs authenticate with them.');
  });

  test('a lockout is listed and ended', async () => {
    const { page } = await panel.open('/lockouts');
    await shows(page, 'Nobody is locked out');
    for (let times = 0; times < 12; times++) {
      await fetch(`${panel.origin()}/login/verify`, {
        method: 'POST',
        body: new URLSearchParams({ username: 'nobody', password: 'guessed' }),
        headers: { connection: 'close' },
      });
    }
    await page.waitForSelector('tbody tr[data-row]');
    await shows(page, 'Locked out until');
    expect(await accessibilityProblems(page)).toEqual([]);
    for (const source of await page.$$eval('tbody th', (heads) => heads.map((head) => head.textContent ?? ''))) {
      await press(page, `End the lockout: ${source}`);
    }
    await shows(page, 'Nobody is locked out');
  });
});
