import process from 'node:process';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { KeyInput } from 'puppeteer-core';
import { eventuallyAsync } from '../support/eventually.ts';
import { startAgent } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { accessibilityProblems } from './axe.ts';
import { answer, choose, chooseEntry, enter, hides, listsRows, press, shows, testPanel } from './panel.ts';

// Short form: test/panel/first-visit.test.ts

/** The most bytes that the first page loads. */
const mostBytes = 300 * 1024;

describeWith('chromium', "the panel's lists", () => {
  const panel = testPanel();
  let alice = 0;
  let first = 0;
  beforeAll(async () => {
    alice = await panel.write('/user/add/', { username: 'alice', password: 'password of alice' });
    first = await panel.write('/client/add/', { vkey: 'key one', remark: 'alpha', user_id: alice });
    await panel.write('/client/add/', { vkey: 'key two', remark: 'beta' });
    await panel.write('/client/add/', { vkey: 'key three', remark: 'gamma' });
  });

  describe('clients', () => {
    test('are found, filtered, sorted and shown with the chosen columns; the address of the page shows the same again', async () => {
      const { page, complaints } = await panel.open('/clients?sort=REMARK');
      await listsRows(page, ['alpha', 'beta', 'gamma']);
      await press(page, 'Client');
      await listsRows(page, ['gamma', 'beta', 'alpha']);
      expect(await page.$eval('th[aria-sort]', (head) => [head.textContent, head.getAttribute('aria-sort')])).toEqual(['Client', 'descending']);

      await enter(page, 'Search', 'key tw');
      await listsRows(page, ['beta']);
      await page.reload();
      await listsRows(page, ['beta']);
      await enter(page, 'Search', 'nothing like this');
      await shows(page, 'Nothing matches');
      expect(await accessibilityProblems(page)).toEqual([]);
      await press(page, 'Clear the filters');
      await page.waitForFunction(() => document.querySelectorAll('tbody tr[data-row]').length === 3);

      await press(page, 'Filters');
      await page.select('.pop select', String(alice));
      await listsRows(page, ['alpha']);
      await page.select('.pop select', 'none');
      await page.waitForFunction(() => document.querySelectorAll('tbody tr[data-row]').length === 2);
      await page.keyboard.press('Escape');

      await press(page, 'Columns');
      await press(page, 'Key');
      await shows(page, 'key two');
      await page.reload();
      await shows(page, 'key two');
      expect(complaints).toEqual([]);
    });

    test('several are stopped, started and deleted together, after a question that names what else is affected', async () => {
      await panel.write('/client/add/', { vkey: 'key four', remark: 'old one' });
      const second = await panel.write('/client/add/', { vkey: 'key five', remark: 'old two' });
      await panel.write('/index/add/', { client_id: second, type: 'tcp', port: 0, target: '127.0.0.1:9', remark: 'of the old' });
      const { page } = await panel.open('/clients?q=old&sort=REMARK');
      await listsRows(page, ['old one', 'old two']);
      await press(page, 'Select all on this page');
      await shows(page, '2 selected');
      expect(await accessibilityProblems(page)).toEqual([]);
      await press(page, 'Disable');
      await shows(page, 'Nothing is deleted, and enabling brings everything back.');
      expect(await accessibilityProblems(page)).toEqual([]);
      await answer(page, 'Keep as is');
      expect(await page.$$eval('tbody tr[data-row]', (rows) => rows.map((row) => row.textContent?.includes('Disabled')))).toEqual([false, false]);
      await press(page, 'Disable');
      await page.waitForSelector('[role=alertdialog]');
      await page.keyboard.press('Escape');
      await hides(page, 'Nothing is deleted');
      await press(page, 'Disable');
      await Promise.all([shows(page, '2 clients disabled'), answer(page, 'Disable')]);
      await page.waitForFunction(() => [...document.querySelectorAll('tbody tr[data-row]')].every((row) => row.textContent?.includes('Disabled')));

      await press(page, 'Select old two');
      await Promise.all([shows(page, '1 client enabled'), press(page, 'Enable')]);
      await page.waitForFunction(() =>
        [...document.querySelectorAll('tbody tr[data-row]')].filter((row) => row.textContent?.includes('Disabled')).length === 1
      );

      await press(page, 'Select all on this page');
      await press(page, 'Delete');
      await shows(page, '1 tunnel');
      await shows(page, 'Ports that close: ');
      expect(await accessibilityProblems(page)).toEqual([]);
      await Promise.all([shows(page, '2 clients deleted'), answer(page, 'Delete 2 clients')]);
      await shows(page, 'Nothing matches');
    });

    test('what is selected stays selected on other pages, and all pages can be selected at once', async () => {
      await Promise.all(
        Array.from({ length: 55 }, (_, at) => panel.write('/client/add/', { vkey: `crowd ${at}`, remark: `crowd ${String(at).padStart(2, '0')}` })),
      );
      const { page, complaints } = await panel.open('/clients?q=crowd&sort=REMARK&page=9');
      // A page after the last one.
      await shows(page, '51 to 55 of 55');
      await press(page, 'Back');
      await shows(page, '1 to 50 of 55');
      await press(page, 'Select crowd 00');
      await press(page, 'Next');
      await shows(page, '51 to 55 of 55');
      await shows(page, '1 selected');
      await press(page, 'Select all 55');
      await shows(page, '55 selected');
      await press(page, 'Delete');
      // The message stays for five seconds: waiting for it begins before the answer.
      await Promise.all([shows(page, '55 clients deleted'), answer(page, 'Delete 55 clients')]);
      await shows(page, 'Nothing matches');
      expect(complaints).toEqual([]);
    });
  });

  test('keys move from row to row, select, open, edit, and open the menu of a row; after a deletion the next row has the focus', async () => {
    for (const name of ['row a', 'row b', 'row c', 'row d']) await panel.write('/client/add/', { vkey: `of ${name}`, remark: name });
    const { page, complaints } = await panel.open('/clients?q=row&sort=REMARK');
    await listsRows(page, ['row a', 'row b', 'row c', 'row d']);
    const focused = (): Promise<string> => page.evaluate(() => document.activeElement?.closest('tr')?.querySelector('th a')?.textContent ?? '');
    const keys = async (...names: readonly KeyInput[]): Promise<void> => {
      for (const name of names) await page.keyboard.press(name);
    };
    await keys('j', 'j', 'j', 'k');
    expect(await focused()).toBe('row b');
    await keys('ArrowUp');
    expect(await focused()).toBe('row a');
    expect(await accessibilityProblems(page)).toEqual([]);
    await keys('x');
    await shows(page, '1 selected');
    await keys('j', 'j');
    await page.keyboard.down('Shift');
    await keys('X');
    await page.keyboard.up('Shift');
    await shows(page, '3 selected');
    await keys('k', '.');
    await chooseEntry(page, 'Delete');
    await answer(page, 'Delete 1 client');
    await listsRows(page, ['row a', 'row c', 'row d']);
    await eventuallyAsync(focused, (name) => name === 'row c');
    await keys('e');
    await page.waitForFunction(() => document.querySelector('h1')?.textContent === 'Edit row c');
    await page.goBack();
    await listsRows(page, ['row a', 'row c', 'row d']);
    await keys('j', 'Enter');
    await page.waitForFunction(() => document.querySelector('h1')?.textContent === 'row a');
    expect(complaints).toEqual([]);
  });

  test('the order of a list stays while the pointer is in it; new rows wait', async () => {
    for (const name of ['still a', 'still b']) await panel.write('/client/add/', { vkey: `of ${name}`, remark: name });
    const { page, complaints } = await panel.open('/clients?q=still&sort=REMARK');
    await listsRows(page, ['still a', 'still b']);
    await page.hover('tbody tr[data-row]');
    const added = await panel.write('/client/add/', { vkey: 'of the first', remark: 'still 0' });
    await shows(page, '1 new');
    await listsRows(page, ['still a', 'still b']);
    await press(page, '1 new');
    await listsRows(page, ['still 0', 'still a', 'still b']);
    await page.hover('tbody tr[data-row]:nth-child(2)');
    // A deleted row leaves at once.
    await panel.write('/client/del/', { id: added });
    await listsRows(page, ['still a', 'still b']);
    await panel.write('/client/add/', { vkey: 'of the other', remark: 'still 1' });
    await shows(page, '1 new');
    await page.hover('h1');
    await listsRows(page, ['still 1', 'still a', 'still b']);
    expect(complaints).toEqual([]);
  });

  test('the height of the rows is chosen, and kept', async () => {
    const { page } = await panel.open('/clients');
    await page.waitForSelector('tbody tr[data-row]');
    const height = (): Promise<number> => page.$eval('tbody tr[data-row]', (row) => row.getBoundingClientRect().height);
    const comfortable = await height();
    await press(page, 'Columns');
    await press(page, 'Compact rows');
    await page.reload();
    await page.waitForSelector('tbody tr[data-row]');
    expect(await height()).toBeLessThan(comfortable);
  });

  test('tunnels are listed by type, and duplicated, stopped, started and deleted from their row', async () => {
    for (const type of ['tcp', 'udp', 'httpProxy', 'socks5']) {
      await panel.write('/index/add/', { client_id: first, type, port: 0, target: '127.0.0.1:9', remark: `by ${type}` });
    }
    await panel.write('/index/add/', { client_id: first, type: 'secret', password: 'of the secret', target: '127.0.0.1:9', remark: 'by secret' });
    const { page, complaints } = await panel.open('/tunnels?sort=REMARK');
    await listsRows(page, ['by httpProxy', 'by secret', 'by socks5', 'by tcp', 'by udp']);
    for (
      const [type, name] of [['UDP', 'by udp'], ['HTTP_PROXY', 'by httpProxy'], ['SOCKS5', 'by socks5'], ['SECRET', 'by secret'], ['TCP', 'by tcp']] as const
    ) {
      await page.select('.toolbar select', type);
      await listsRows(page, [name]);
    }
    expect(new URL(page.url()).search).toContain('type=TCP');
    await choose(page, 'Actions for by tcp', 'Duplicate');
    await listsRows(page, ['by tcp', 'by tcp']);
    await choose(page, 'Actions for by tcp', 'Stop');
    await shows(page, 'Ports that close: ');
    await Promise.all([shows(page, '1 tunnel stopped'), answer(page, 'Stop')]);
    await press(page, 'Stopped');
    await listsRows(page, ['by tcp']);
    await Promise.all([shows(page, '1 tunnel started'), choose(page, 'Actions for by tcp', 'Start')]);
    await shows(page, 'Nothing matches');
    await page.goto(`${panel.origin()}/tunnels?type=UDP`);
    await choose(page, 'Actions for by udp', 'Delete');
    await Promise.all([shows(page, '1 tunnel deleted'), answer(page, 'Delete 1 tunnel')]);
    expect(complaints).toEqual([]);
  });

  test('hosts show the state of their certificates, and are filtered, stopped and deleted', async () => {
    await panel.write('/index/addhost/', { client_id: first, host: 'one.example.com', target: '127.0.0.1:9', scheme: 'http' });
    await panel.write('/index/addhost/', { client_id: first, host: 'two.example.com', location: '/shop', target: '127.0.0.1:9', scheme: 'all' });
    const { page } = await panel.open('/hosts?sort=HOST');
    await page.waitForFunction(() => document.querySelectorAll('tbody tr[data-row]').length === 2);
    const urls = await page.$$eval('tbody th .name', (links) => links.map((link) => link.textContent ?? ''));
    expect(urls.map((url) => url.replace(/:\d+/, ''))).toEqual(['http://one.example.com', 'https://two.example.com/shop']);
    await shows(page, 'HTTP only');
    await shows(page, 'TLS is passed to the target');
    await enter(page, 'Search', 'two.ex');
    await page.waitForFunction(() => document.querySelectorAll('tbody tr[data-row]').length === 1);
    const menu = await page.$eval('tbody .more button', (button) => button.getAttribute('aria-label') ?? '');
    await choose(page, menu, 'Stop');
    await Promise.all([shows(page, '1 host stopped'), answer(page, 'Stop')]);
    await choose(page, menu, 'Delete');
    await Promise.all([shows(page, '1 host deleted'), answer(page, 'Delete 1 host')]);
    await shows(page, 'Nothing matches');
  });

  test('a change by somebody else appears without a reload', async () => {
    for (const name of ['seen a', 'seen c']) await panel.write('/client/add/', { vkey: `of ${name}`, remark: name });
    const { page, complaints } = await panel.open('/clients?q=seen&sort=REMARK');
    await listsRows(page, ['seen a', 'seen c']);
    const added = await panel.write('/client/add/', { vkey: 'of seen b', remark: 'seen b' });
    await listsRows(page, ['seen a', 'seen b', 'seen c']);
    await panel.write('/client/changestatus/', { id: added, status: 0 });
    await page.waitForFunction((id) => document.querySelector(`tr[data-row="${id}"]`)?.textContent?.includes('Disabled'), {}, added);
    await panel.write('/client/del/', { id: added });
    await listsRows(page, ['seen a', 'seen c']);
    expect(complaints).toEqual([]);
  });

  test(`the first page loads at most ${mostBytes / 1024} KB`, async () => {
    // One that was lost, which the page lists.
    await (await startAgent(panel.server(), 'key one')).end();
    const { page } = await panel.open('/login/index');
    const session = await page.createCDPSession();
    await session.send('Network.enable');
    const urls = new Map<string, string>();
    const bytes = new Map<string, number>();
    session.on('Network.requestWillBeSent', ({ requestId, request }) => urls.set(requestId, request.url));
    session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => bytes.set(urls.get(requestId) ?? '', encodedDataLength));
    await page.setCacheEnabled(false);
    await page.goto(`${panel.origin()}/`);
    await page.waitForSelector('.dash .lines > li a');
    const loaded = [...bytes].filter(([url]) => !url.endsWith('/graphql'));
    expect(loaded.length).toBeGreaterThan(3);
    const sum = loaded.reduce((all, [, size]) => all + size, 0);
    process.stdout.write(`the first page: ${Math.round(sum / 1024)} KB in ${loaded.length} requests\n`);
    expect(sum).toBeLessThan(mostBytes);
  });

  test('a page is loaded when the pointer or the focus comes to its link', async () => {
    const { page, complaints } = await panel.open('/clients');
    await page.waitForSelector('tbody tr[data-row]');
    const script = () => page.waitForResponse((response) => response.request().resourceType() === 'script');
    await Promise.all([script(), page.hover('.sidebar a[href$="/tokens"]')]);
    await Promise.all([script(), page.focus('.sidebar a[href$="/settings"]')]);
    expect(await page.$eval('h1', (heading) => heading.textContent)).toBe('Clients');
    await press(page, 'Settings');
    await shows(page, 'Global blocklist');
    expect(complaints).toEqual([]);
  });
});
