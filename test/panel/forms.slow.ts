import { beforeAll, expect, test } from '@jest/globals';
import type { KeyInput, Page } from 'puppeteer-core';
import { describeWith } from '../support/programs.ts';
import { accessibilityProblems } from './axe.ts';
import { enter, press, problemsAt, shows, testPanel } from './panel.ts';

// Short form: test/panel/first-visit.test.ts

/** Moves the focus with Tab until it is on the control with this id. */
async function tabTo(page: Page, id: string): Promise<void> {
  for (let steps = 0; steps < 60; steps++) {
    await page.keyboard.press('Tab');
    if (await page.evaluate((wanted) => document.activeElement?.id === wanted, id)) return;
  }
  throw new Error(`Tab does not reach ${id}`);
}

async function save(page: Page): Promise<void> {
  await page.keyboard.down('Control');
  await page.keyboard.press('Enter');
  await page.keyboard.up('Control');
}

async function goTo(page: Page, letter: KeyInput, heading: string): Promise<void> {
  await page.keyboard.press('g');
  await page.keyboard.press(letter);
  await page.waitForFunction((wanted) => document.querySelector('h1')?.textContent === wanted, {}, heading);
}

describeWith('chromium', "the panel's forms", () => {
  const panel = testPanel();
  let client = 0;
  beforeAll(async () => {
    client = await panel.write('/client/add/', { vkey: 'key of the forms', remark: 'forms' });
  });

  test('a refused client shows each problem at its field, and is saved after the correction', async () => {
    const { page, complaints } = await panel.open('/clients/new');
    await page.waitForSelector('#field-remark');
    await enter(page, 'Note optional', 'refused');
    await enter(page, 'Traffic', 'much');
    await press(page, 'Create the client');
    await problemsAt(page, ['flowLimit']);
    await enter(page, 'Traffic', '100');
    await enter(page, 'Key optional', 'key of the forms');
    await press(page, 'Create the client');
    await problemsAt(page, ['verifyKey']);
    expect(await accessibilityProblems(page)).toEqual([]);
    await enter(page, 'Key optional', 'another key');
    await press(page, 'Create the client');
    await shows(page, 'The agent has never connected.');
    expect(complaints).toEqual([]);
  });

  test('a refused tunnel shows each problem at its field, keeps what was typed, and is saved after the correction', async () => {
    const { page } = await panel.open(`/tunnels/new?client=${client}`);
    await shows(page, 'From where to where');
    await enter(page, 'Note optional', 'kept');
    await enter(page, 'Port of the server optional', '70000');
    await enter(page, 'Targets', 'no-port');
    await press(page, 'Create the tunnel');
    await shows(page, 'Nothing was saved');
    await page.waitForFunction(() => document.querySelector('#field-port')?.getAttribute('aria-invalid') === 'true');
    expect(await accessibilityProblems(page)).toEqual([]);
    await enter(page, 'Port of the server optional', '');
    await press(page, 'Create the tunnel');
    await problemsAt(page, ['targets']);
    // The summary leads to the field.
    await page.click('[role=alert] a');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('field-targets');
    expect(await page.$eval('#field-remark', (field) => (field as HTMLInputElement).value)).toBe('kept');
    await enter(page, 'Targets', '127.0.0.1:9');
    await press(page, 'Create the tunnel');
    await shows(page, 'Tunnel kept');
  });

  test('a refused host shows each problem at its field', async () => {
    const { page } = await panel.open(`/hosts/new?client=${client}`);
    await page.waitForSelector('#field-host');
    await shows(page, 'Without a target, visitors are refused.');
    await press(page, 'Create the host');
    await problemsAt(page, ['host']);
    await shows(page, 'Domain: Enter a value.');
    await enter(page, 'Domain', 'not a domain');
    await enter(page, 'Targets', '127.0.0.1:9');
    await press(page, 'Create the host');
    await problemsAt(page, ['host']);
    await enter(page, 'Domain', 'forms.example.com');
    await enter(page, 'Targets', 'no-port');
    await press(page, 'Create the host');
    await problemsAt(page, ['targets']);
    expect(await accessibilityProblems(page)).toEqual([]);
    await enter(page, 'Targets', '127.0.0.1:9');
    await enter(page, 'Certificate, with its chain optional', '/etc/a.pem');
    await press(page, 'Create the host');
    await problemsAt(page, ['privateKey']);
    await enter(page, 'Certificate, with its chain optional', '');
    await press(page, 'Create the host');
    await page.waitForFunction(() => document.querySelector('h1')?.textContent === 'forms.example.com');
  });

  test('while the user pauses, the server checks what they have typed, and nothing is saved', async () => {
    const taken = 'taken.example.com';
    await panel.write('/index/addhost/', { client_id: client, host: taken, target: '127.0.0.1:9', scheme: 'all', location: '/' });
    const { page, complaints } = await panel.open(`/hosts/new?client=${client}`);
    await page.waitForSelector('#field-host');
    await enter(page, 'Domain', taken);
    // The targets are missing, too, but the user has not come to them.
    await enter(page, 'Targets', '127.0.0.1:9');
    await enter(page, 'Targets', '');
    await problemsAt(page, ['host']);
    expect(await page.$('[role=alert]')).toBeNull();
    expect(await accessibilityProblems(page)).toEqual([]);
    await enter(page, 'Domain', `not-${taken}`);
    await problemsAt(page, []);
    // The browser asks before the page is left by other ways than its links, too.
    const asked: string[] = [];
    page.once('dialog', (dialog) => asked.push(dialog.type()));
    await page.goto(`${panel.origin()}/hosts`);
    expect(asked).toEqual(['beforeunload']);
    await shows(page, taken);
    expect(await page.$$eval('tbody tr[data-row] th .name', (links) => links.filter((link) => link.textContent.startsWith('not-')).length)).toBe(0);
    expect(complaints).toEqual([]);
  });

  test('a refused user shows each problem at its field', async () => {
    const { page } = await panel.open('/users/new');
    await page.waitForSelector('#field-username');
    await enter(page, 'Login name', 'bob');
    await enter(page, 'Password', 'short');
    await press(page, 'Create the user');
    await problemsAt(page, ['password']);
    await enter(page, 'Password', 'long enough');
    await enter(page, 'Maximum clients optional', 'many');
    await press(page, 'Create the user');
    await problemsAt(page, ['maxClients']);
    await enter(page, 'Maximum clients optional', '2');
    // The browser has no value for a date without a time: saved, it would be "never".
    await page.focus('#field-expiresAt');
    await page.keyboard.type('12');
    await press(page, 'Create the user');
    await problemsAt(page, ['expiresAt']);
    await page.focus('#field-expiresAt');
    await page.keyboard.press('Backspace');
    await press(page, 'Create the user');
    await shows(page, 'User created');
    await shows(page, '0 of 2');
    await page.goto(`${panel.origin()}/users/new`);
    await page.waitForSelector('#field-username');
    await enter(page, 'Login name', 'bob');
    await enter(page, 'Password', 'long enough');
    await press(page, 'Create the user');
    await problemsAt(page, ['username']);
    expect(await accessibilityProblems(page)).toEqual([]);
  });

  test('somebody else’s change is not overwritten without a question', async () => {
    const { page } = await panel.open(`/clients/${client}/edit`);
    await page.waitForSelector('#field-remark');
    await panel.write('/client/edit/', { id: client, remark: 'theirs' });
    await enter(page, 'Note optional', 'mine');
    await press(page, 'Save');
    await shows(page, 'Somebody else changed this record while you were editing it.');
    await shows(page, 'Changed in the meantime: Note.');
    expect(await accessibilityProblems(page)).toEqual([]);
    await press(page, 'Load theirs');
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>('#field-remark')?.value === 'theirs');
    await panel.write('/client/edit/', { id: client, remark: 'theirs again' });
    await enter(page, 'Note optional', 'mine');
    await press(page, 'Save');
    await press(page, 'Save mine');
    await page.waitForFunction(() => document.querySelector('h1')?.textContent === 'mine');
  });

  test('the keyboard alone creates a client, a tunnel and a host, and the palette finds them', async () => {
    const { page, complaints } = await panel.open('/');
    await page.waitForSelector('.sidebar');
    await goTo(page, 'c', 'Clients');
    await page.keyboard.press('n');
    await page.waitForSelector('#field-remark');
    await tabTo(page, 'field-remark');
    await page.keyboard.type('made by keyboard');
    await save(page);
    await shows(page, 'The agent has never connected.');
    const made = new URL(page.url()).pathname;
    expect(made).toMatch(/^\/adit\/clients\/\d+$/);

    await goTo(page, 't', 'Tunnels');
    await page.keyboard.press('n');
    await page.waitForSelector('#field-clientId');
    await tabTo(page, 'field-clientId');
    await page.keyboard.type('by keyboard');
    await page.waitForFunction(() => document.querySelectorAll('[role=option]').length === 1);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>('#field-clientId')?.value.startsWith('made by keyboard') === true);
    await tabTo(page, 'field-targets');
    await page.keyboard.type('127.0.0.1:22');
    await save(page);
    await page.waitForSelector('#h-state');

    await goTo(page, 'h', 'Hosts');
    await page.keyboard.press('n');
    await page.waitForSelector('#field-host');
    await tabTo(page, 'field-host');
    await page.keyboard.type('keyboard.example.com');
    await tabTo(page, 'field-clientId');
    await page.keyboard.type('by keyboard');
    await page.waitForFunction(() => document.querySelectorAll('[role=option]').length === 1);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>('#field-clientId')?.value.startsWith('made by keyboard') === true);
    await tabTo(page, 'field-targets');
    await page.keyboard.type('127.0.0.1:80');
    await save(page);
    await page.waitForFunction(() => document.querySelector('h1')?.textContent === 'keyboard.example.com');

    await page.keyboard.down('Control');
    await page.keyboard.press('k');
    await page.keyboard.up('Control');
    // The form behind it has a combobox, too.
    await page.waitForSelector('.palette [role=combobox]:focus');
    await page.keyboard.type(made.replace(/.*\//, '#'));
    await page.waitForFunction(() => [...document.querySelectorAll('[role=option]')].some((option) => option.textContent?.includes('made by keyboard')));
    await page.keyboard.down('Shift');
    await page.keyboard.press('Home');
    await page.keyboard.up('Shift');
    await page.keyboard.type('made by keyb');
    await page.waitForFunction(() => document.querySelector('[role=option][aria-selected=true]')?.textContent?.includes('made by keyboard'));
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.waitForFunction((path) => location.pathname === path, {}, made);
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
    await page.keyboard.press('?');
    await shows(page, 'Keyboard shortcuts');
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.keyboard.press('Escape');
    expect(complaints).toEqual([]);
  });

  test('leaving a form with changes asks first', async () => {
    const { page } = await panel.open('/clients/new');
    await page.waitForSelector('#field-remark');
    await enter(page, 'Note optional', 'unsaved');
    const asked: string[] = [];
    page.once('dialog', (dialog) => {
      asked.push(dialog.message());
      void dialog.dismiss();
    });
    await page.click('.sidebar a[href="/adit/tunnels"]');
    expect(asked).toEqual(['You have unsaved changes. Leave this page and lose them?']);
    expect(await page.$eval('#field-remark', (field) => (field as HTMLInputElement).value)).toBe('unsaved');
    page.once('dialog', (dialog) => void dialog.accept());
    await page.click('.sidebar a[href="/adit/"]');
    await page.waitForFunction(() => document.querySelector('h1')?.textContent === 'Dashboard');
  });
});
