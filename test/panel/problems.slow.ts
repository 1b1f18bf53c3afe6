import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'puppeteer-core';
import { covering, other } from '../support/certificates.ts';
import { describeWith } from '../support/programs.ts';
import { accessibilityProblems } from './axe.ts';
import { answer, choose, enter, hides, logIn, password, press, shows, testPanel } from './panel.ts';

// Short form: test/panel/first-visit.test.ts

/** Logs in above the page. */
async function logInAgain(page: Page): Promise<void> {
  await page.type('input[name=username]', 'admin');
  await page.type('input[name=password]', password);
  await page.click('.login-dialog form button');
  await page.waitForFunction(() => document.querySelector('.login-dialog') === null);
}

describeWith('chromium', 'what is wrong, in the panel', () => {
  const panel = testPanel();
  let client = 0;
  let host = 0;
  beforeAll(async () => {
    client = await panel.write('/client/add/', { vkey: 'key of the full', remark: 'the full one', max_tunnel: 1 });
    host = await panel.write('/index/addhost/', { client_id: client, host: 'shop.example.com', target: '127.0.0.1:9', scheme: 'all' });
  });

  test('the login leads to the page that was asked for, with its query', async () => {
    const { page } = await panel.openLoggedOut('/clients?q=full');
    await logIn(page, 'admin', password);
    await shows(page, 'the full one');
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/adit/clients?q=full');
  });

  test('the dashboard says what is used up and leads to where it is fixed; it follows without a reload, and speaks Chinese', async () => {
    const { page, complaints } = await panel.open('/');
    await shows(page, 'the full one has as many tunnels and hosts as its limit allows');
    await shows(page, '1 of 1. None can be added.');
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.evaluate(() => localStorage.setItem('adit.language', 'zh'));
    await page.reload();
    await shows(page, 'the full one 的隧道和域名数量已达限额');
    await page.evaluate(() => localStorage.setItem('adit.language', 'en'));
    await page.reload();
    await shows(page, '1 of 1. None can be added.');
    await panel.write('/client/edit/', { id: client, max_tunnel: 0 });
    await shows(page, 'Nothing is wrong.');
    expect(complaints).toEqual([]);
  });

  test('a diagnosis is in the chosen language', async () => {
    const { page, complaints } = await panel.open('/diagnosis?url=http%3A%2F%2Fshop.example.com%2F');
    await shows(page, `The agent of client ${client} is not connected.`);
    await page.evaluate(() => localStorage.setItem('adit.language', 'zh'));
    await page.reload();
    await shows(page, `客户端 #${client} 的 Agent 未连接。`);
    await shows(page, '使用该客户端的密钥启动 Agent');
    await hides(page, 'is not connected');
    expect(complaints).toEqual([]);
    await page.evaluate(() => localStorage.setItem('adit.language', 'en'));
  });

  test('the page of a host stops it and follows; the diagnosis leads to hosts with its name', async () => {
    const { page, complaints } = await panel.open(`/hosts/${host}`);
    await enter(page, 'Note optional', 'typed before the stop');
    await choose(page, 'Actions for shop.example.com', 'Stop');
    await shows(page, 'Names that are no longer served: shop.example.com');
    await answer(page, 'Stop');
    await page.waitForFunction(() => document.querySelector('#h-state')?.parentElement?.textContent?.includes('Stopped'));
    await press(page, 'Save');
    await shows(page, 'Saved');
    await page.goto(`${panel.origin()}/diagnosis?url=http%3A%2F%2Fshop.example.com%2F`);
    await shows(page, 'All matching hosts are stopped.');
    await press(page, 'Hosts with this name');
    await shows(page, '1 to 1 of 1');
    await panel.write('/index/hoststart/', { id: host });
    await shows(page, 'Agent away');
    expect(complaints).toEqual([]);
  });

  test('a certificate is checked while it is entered', async () => {
    const { page } = await panel.open(`/hosts/${host}`);
    const paste = async (id: string, text: string) => {
      await page.click(`#${id}`, { count: 3 });
      await page.$eval(`#${id}`, (field, pasted) => {
        (field as HTMLTextAreaElement).setRangeText(pasted, 0, (field as HTMLTextAreaElement).value.length);
        field.dispatchEvent(new InputEvent('input', { bubbles: true }));
      }, text);
    };
    await page.waitForSelector('#field-certificate');
    await paste('field-certificate', covering.certificate);
    await shows(page, 'This certificate cannot be used.');
    await shows(page, 'The private key is missing.');
    await shows(page, 'It is for other names than the one of this host.');
    await shows(page, '*.p.example.com');
    await paste('field-privateKey', other.key);
    await shows(page, 'The private key does not belong to this certificate, or is encrypted.');
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.click('#field-host', { count: 3 });
    await page.type('#field-host', 'a.p.example.com');
    await paste('field-privateKey', covering.key);
    await shows(page, 'This certificate can be used.');
  });

  // The last one: it ends the session that the others share.
  test('a restart of the server is shown, and the page recovers by itself; a session that ended asks for a login above the page', async () => {
    const { page } = await panel.open('/clients');
    await page.waitForSelector('tbody tr[data-row]');
    await press(page, 'Select the full one');
    await page.evaluate(() => fetch('/adit/login/out'));
    await press(page, 'Enable');
    await shows(page, 'Your session has ended');
    await logInAgain(page);
    // A message that something failed stays.
    await hides(page, 'You are not logged in.');
    await press(page, 'New client');
    await page.waitForSelector('#field-remark');
    await page.type('#field-remark', 'typed before');
    await panel.server().child.end();
    await press(page, 'Create the client');
    await shows(page, 'It is unknown whether anything was changed');
    await hides(page, 'Nothing was saved');
    await shows(page, 'No connection to the server since');
    expect(await accessibilityProblems(page)).toEqual([]);
    await panel.restart();
    await page.waitForFunction(() => !document.body.innerText.includes('No connection to the server'));
    await page.evaluate(() => fetch('/adit/login/out'));
    await press(page, 'Create the client');
    await shows(page, 'Your session has ended');
    expect(await accessibilityProblems(page)).toEqual([]);
    await logInAgain(page);
    await press(page, 'Create the client');
    await shows(page, 'typed before');
    await shows(page, 'The agent has never connected.');
  });
});
