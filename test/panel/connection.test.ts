import { beforeAll, expect, test } from '@jest/globals';
import { describeWith } from '../support/programs.ts';
import { accessibilityProblems } from './axe.ts';
import { password, press, shows, testPanel } from './panel.ts';

const timeout = 120_000;

describeWith('chromium', "the panel's connection", () => {
  const panel = testPanel();
  beforeAll(async () => {
    await panel.write('/client/add/', { vkey: 'the only key', remark: 'the only one' });
  }, timeout);

  test('a restart of the server is shown, and the page recovers by itself; a session that ended asks for a login above the page', async () => {
    const { page } = await panel.open('/clients');
    await page.waitForSelector('tbody tr[data-row]');
    await panel.server().child.end();
    await shows(page, 'No connection to the server since');
    expect(await accessibilityProblems(page)).toEqual([]);
    await panel.restart();
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
  }, timeout);
});
