import process from 'node:process';
import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'puppeteer-core';
import { startAgent } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { shows, testPanel } from './panel.ts';

/** How many clients the server has when the dashboard is measured, and when their list is. */
const [few, many] = [1000, 10_000];
/** The longest times, in ms. */
const [mostForDashboard, mostForList] = [1000, 500];
/** A line of the dashboard's list of agents that were lost. */
const lost = '.dash .lines > li a';
const timeout = 600_000;
/** How often each time is measured. */
const repeats = 9;

/** Keeps the time at which the page first has all these elements, in ms since it was asked for. */
async function watchFor(page: Page, selectors: readonly string[]): Promise<void> {
  await page.evaluateOnNewDocument((wanted) => {
    const watcher = new MutationObserver(() => {
      if (wanted.some((selector) => document.querySelector(selector) === null)) return;
      performance.mark('usable');
      watcher.disconnect();
    });
    watcher.observe(document, { childList: true, subtree: true });
  }, selectors);
}

async function usableAfter(page: Page): Promise<number> {
  await page.waitForFunction(() => performance.getEntriesByName('usable').length > 0);
  return page.evaluate(() => performance.getEntriesByName('usable')[0]?.startTime ?? Infinity);
}

function median(times: readonly number[]): number {
  return times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? Infinity;
}

/** The median of repeated actions, in ms, each after `prepare`. The first time is left out: it loads scripts. */
async function medianOf(times: number, prepare: () => Promise<unknown>, measure: (time: number) => Promise<number>): Promise<number> {
  const measured: number[] = [];
  for (let time = 0; time <= times; time++) {
    await prepare();
    measured.push(await measure(time));
  }
  return median(measured.slice(1));
}

/** The time from an action until the page shows `count` rows that have the given text, in ms. */
function timeUntilRows(page: Page, action: 'link' | 'search', text: string): Promise<number> {
  return page.evaluate(
    (kind, wanted) =>
      new Promise<number>((resolve) => {
        const start = performance.now();
        const watcher = new MutationObserver(() => {
          const rows = [...document.querySelectorAll('tbody tr[data-row] th')];
          if (rows.length === 0 || !rows.every((row) => row.textContent?.includes(wanted))) return;
          watcher.disconnect();
          resolve(performance.now() - start);
        });
        watcher.observe(document, { childList: true, subtree: true, characterData: true });
        if (kind === 'link') return document.querySelector<HTMLElement>('.sidebar a[href$="/clients"]')?.click();
        const field = document.querySelector<HTMLInputElement>('input[type=search]');
        Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(field, wanted);
        field?.dispatchEvent(new Event('input', { bubbles: true }));
      }),
    action,
    text,
  );
}

function report(what: string, ms: number): void {
  process.stdout.write(`${what}: ${Math.round(ms)} ms\n`);
}

describeWith('chromium', 'the speed of the panel', () => {
  const panel = testPanel();
  async function addClients(from: number, to: number): Promise<void> {
    const waiting = Array.from({ length: to - from }, (_, at) => from + at);
    await Promise.all(Array.from({ length: 8 }, async () => {
      for (let at = waiting.shift(); at !== undefined; at = waiting.shift()) {
        await panel.write('/client/add/', { vkey: `key of client ${at}`, remark: `client ${at}` });
      }
    }));
  }
  beforeAll(async () => {
    await addClients(0, few);
    // An agent that was lost: a problem, and a line among those that were lost last.
    const client = await panel.write('/client/add/', { vkey: 'key of the lost one', remark: 'client that is lost' });
    await panel.write('/index/add/', { client_id: client, type: 'tcp', target: '127.0.0.1:9' });
    await (await startAgent(panel.server(), 'key of the lost one')).end();
  }, timeout);

  test(`the dashboard of ${few} clients is usable within ${mostForDashboard} ms`, async () => {
    const { page } = await panel.open('/login/index');
    await watchFor(page, ['.dash .issues > li', lost, '.dash .data']);
    const ms = await medianOf(repeats, () => page.goto(`${panel.origin()}/`), () => usableAfter(page));
    report(`the dashboard with ${few} clients`, ms);
    expect(ms).toBeLessThan(mostForDashboard);
  }, timeout);

  test(`a list of ${many} clients is shown, searched and sorted within ${mostForList} ms`, async () => {
    await addClients(few, many);
    const { page } = await panel.open('/');
    await page.waitForSelector(lost);
    // Loaded again each time: otherwise, the list would be shown from memory.
    const toDashboard = async (): Promise<void> => {
      await page.goto(`${panel.origin()}/`);
      await page.waitForSelector(lost);
    };
    const shown = await medianOf(repeats, toDashboard, () => timeUntilRows(page, 'link', 'client'));
    report(`the list of ${many} clients, from the dashboard`, shown);
    const found = await medianOf(
      repeats,
      () => page.waitForSelector('input[type=search]'),
      (time) => timeUntilRows(page, 'search', `client ${many - 1 - time}`),
    );
    report(`a search in ${many} clients, with the pause after typing`, found);
    await watchFor(page, ['tbody tr[data-row]:nth-child(50)']);
    const loaded = await medianOf(repeats, () => page.goto(`${panel.origin()}/clients?sort=-REMARK`), () => usableAfter(page));
    report(`the list of ${many} clients, by its address, sorted`, loaded);
    await shows(page, (many + 1).toLocaleString('en-GB'));
    expect(Math.max(shown, found)).toBeLessThan(mostForList);
    expect(loaded).toBeLessThan(mostForDashboard);
  }, timeout);
});
