import { afterAll, afterEach, beforeAll } from '@jest/globals';
import puppeteer, { type Browser, type BrowserContext, type CookieData, type Page } from 'puppeteer-core';
import { programPath } from './find-program.ts';

/** A page of a browser, and what it complained of. */
export interface WatchedPage {
  readonly page: Page;
  /** Errors and warnings of the console, broken policies among them, uncaught errors, and requests to other places than `origin`. */
  readonly complaints: readonly string[];
}

/**
 * Chromium without a window while the suite that calls this runs: wrap it in `describeWith('chromium', ...)`. Each test begins without cookies and without anything else that
 * an origin has stored. Tests share the cache of the pages.
 * @param more of Chromium's options
 */
export function testBrowser(more: readonly string[] = []): { open(url: string, cookies?: readonly CookieData[]): Promise<WatchedPage> } {
  let browser: Browser;
  let context: BrowserContext;
  let pages: Page[] = [];
  /** Origins whose storage was emptied for this test. */
  const emptied = new Set<string>();
  beforeAll(async () => {
    browser = await puppeteer.launch({
      executablePath: programPath('chromium'),
      // One process for what needs none of its own: to start each takes a second of a processor.
      args: [
        '--in-process-gpu',
        '--disable-extensions',
        '--renderer-process-limit=1',
        '--process-per-site',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        '--no-first-run',
        '--disable-dev-shm-usage',
        // Otherwise each window, and so each context, has two pages of its own for the address bar.
        '--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,StorageServiceOutOfProcess',
        '--enable-features=NetworkServiceInProcess2',
        ...more,
      ],
    });
    context = await browser.createBrowserContext();
    await keepProcess(context);
  });
  afterEach(async () => {
    await Promise.all(pages.map((page) => page.close()));
    pages = [];
    emptied.clear();
    await context.deleteCookie(...await context.cookies());
  });
  afterAll(() => browser.close());
  return {
    async open(url, cookies = []) {
      const page = await context.newPage();
      pages.push(page);
      const { origin } = new URL(url);
      if (!emptied.has(origin)) {
        emptied.add(origin);
        const session = await page.createCDPSession();
        await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
        await session.detach();
      }
      await context.setCookie(...cookies);
      page.setDefaultTimeout(120_000);
      const complaints: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warn') complaints.push(`${message.type()}: ${message.text()}`);
      });
      page.on('pageerror', (error) => complaints.push(String(error)));
      // A test that leaves a page with a changed form means it.
      page.on('dialog', (dialog) => {
        if (dialog.type() === 'beforeunload') void dialog.accept();
      });
      page.on('request', (request) => {
        const asked = new URL(request.url());
        if (!['data:', 'blob:'].includes(asked.protocol) && asked.origin !== origin) complaints.push(`asks ${request.url()}`);
      });
      await page.goto(url, { waitUntil: 'load' });
      return { page, complaints };
    },
  };
}

/** Opens an empty page that stays: the process of the pages of 127.0.0.1 ends with the last of them. */
async function keepProcess(context: BrowserContext): Promise<void> {
  const page = await context.newPage();
  await page.setRequestInterception(true);
  page.on('request', (request) => void request.respond({ body: '' }));
  await page.goto('http://127.0.0.1/');
}
