import { expect, test } from '@jest/globals';
import type { Page } from 'puppeteer-core';
import { exampleTabs } from '../../src/panel/graphiql/examples.ts';
import { describeWith } from '../support/programs.ts';
import { accessibilityProblems } from './axe.ts';
import { password, press, shows, testPanel } from './panel.ts';

// Short form: test/http/graphql.test.ts

/** The most bytes that GraphiQL loads, compressed. */
const mostBytes = 400 * 1024;

/** Waits until the editors can be used. */
async function ready(page: Page): Promise<void> {
  for (const name of ['Operation', 'Variables', 'Response']) await page.waitForSelector(`textarea[aria-label=${name}]`);
}

/** Replaces the text of an editor. */
async function write(page: Page, editor: string, text: string): Promise<void> {
  await page.focus(`textarea[aria-label=${editor}]`);
  await page.keyboard.down('Control');
  await page.keyboard.press('a');
  await page.keyboard.up('Control');
  await page.keyboard.sendCharacter(text);
}

const titles = (page: Page): Promise<string[]> => page.$$eval('button[aria-current]', (tabs) => tabs.map((tab) => tab.textContent ?? ''));

/** Waits until the response contains a text. */
async function answers(page: Page, text: string): Promise<void> {
  await page.waitForFunction((wanted) => document.querySelector('.result-window')?.textContent?.includes(wanted), {}, text);
}

/** Everything that the browser keeps for this origin. */
const keptIn = (page: Page): Promise<string> => page.evaluate(() => JSON.stringify({ ...localStorage }) + JSON.stringify({ ...sessionStorage }));

describeWith('chromium', 'GraphiQL', () => {
  const panel = testPanel();

  test(
    'opens with its examples, and runs one; its documentation opens; it fits on a phone; nothing complains, and it is no larger than it has to be',
    async () => {
      await panel.write('/client/add/', { vkey: 'the first key' });
      const { page, complaints } = await panel.open('/login/index');
      const session = await page.createCDPSession();
      await session.send('Network.enable');
      const urls = new Map<string, string>();
      let bytes = 0;
      session.on('Network.requestWillBeSent', ({ requestId, request }) => urls.set(requestId, request.url));
      session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
        if (urls.get(requestId)?.includes('/panel/')) bytes += encodedDataLength;
      });
      await page.goto(`${panel.origin()}/graphql`);
      await ready(page);
      await page.waitForFunction(() => Object.keys(localStorage).some((key) => key.endsWith('tabState')));
      const loaded = bytes;
      await page.reload();
      await ready(page);
      expect(await titles(page)).toHaveLength(exampleTabs.length);
      await press(page, 'Run');
      await answers(page, 'the first key');
      expect(loaded).toBeGreaterThan(50_000);
      expect(loaded).toBeLessThan(mostBytes);
      expect(await accessibilityProblems(page)).toEqual([]);
      await press(page, 'Documentation');
      await press(page, 'Query');
      await shows(page, 'All queries.');
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.setViewport({ width: 360, height: 740 });
      expect(await accessibilityProblems(page)).toEqual([]);
      await press(page, 'Documentation');
      await shows(page, 'the first key');
      expect(await accessibilityProblems(page)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
      expect(complaints).toEqual([]);
    },
  );

  test('the tab key leaves an editor; one of several operations is chosen; a subscription shows what happens, until it is stopped', async () => {
    const { page, complaints } = await panel.open('/graphql');
    await ready(page);
    await write(page, 'Operation', 'query One { viewer { role } } subscription Two { clientChanged { client { remark } } }');
    await page.waitForSelector('select[aria-label="Operation to run"]');
    await page.select('select[aria-label="Operation to run"]', 'Two');
    await page.focus('textarea[aria-label=Operation]');
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).not.toBe('Operation');
    const subscribed = page.waitForResponse((response) => response.headers()['content-type']?.startsWith('text/event-stream') === true);
    await press(page, 'Run');
    await subscribed;
    await panel.write('/client/add/', { vkey: 'key of a change', remark: 'it has changed' });
    await answers(page, 'it has changed');
    await press(page, 'Stop');
    await page.select('select[aria-label="Operation to run"]', 'One');
    await press(page, 'Run');
    await answers(page, 'ADMINISTRATOR');
    expect(complaints).toEqual([]);
  });

  test('tabs survive a reload, for their user alone; secrets and headers are not kept, and variables only in this tab of the browser', async () => {
    const { page } = await panel.open('/graphql');
    await ready(page);
    await write(
      page,
      'Operation',
      `mutation NewUser($input: CreateUserInput!, $password: String! = "default secret") { createUser(input: $input) { id } a: setPassword(password: "literal secret")
        createHost(input: { privateKey: """secret with \\""" quotes""" }) { id } b: setPassword(password: "unfinished secret`,
    );
    await write(page, 'Variables', '{ "input": { "username": "anna", "password": "the password of anna" } }');
    await page.waitForFunction(() => JSON.stringify({ ...sessionStorage }).includes('anna'));
    await press(page, 'Headers');
    await write(page, 'Headers', '{ "authorization": "Bearer of a header" }');
    await page.waitForFunction(() => document.querySelector('button[aria-current=true]')?.textContent === 'NewUser');
    await press(page, 'Close Tunnels');
    // GraphiQL writes half a second after the last change.
    await page.waitForFunction(() => Object.entries(localStorage).some(([key, value]) => key.endsWith('tabState') && !String(value).includes('query Tunnels')));
    const kept = await keptIn(page);
    expect(kept).toContain('createUser');
    expect(kept).toContain('anna');
    for (const secret of ['the password of anna', 'default secret', 'literal secret', 'quotes', 'unfinished secret', 'Bearer of a header']) {
      expect(kept).not.toContain(secret);
    }
    const names = await titles(page);
    expect(names).toContain('NewUser');
    await page.reload();
    await ready(page);
    expect(await titles(page)).toEqual(names);

    const other = await panel.open('/graphql');
    await ready(other.page);
    expect(await titles(other.page)).toEqual(names);
    expect(await keptIn(other.page)).not.toContain('anna');

    await page.evaluate(async (secret) => {
      const query = `mutation { createUser(input: { username: "somebody", password: "${secret}" }) { id } }`;
      await fetch('/adit/graphql', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query }) });
    }, password);
    const somebody = await panel.open('/graphql', 'somebody');
    await ready(somebody.page);
    expect(await titles(somebody.page)).toHaveLength(exampleTabs.length);
  });
});
