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
 * Chromium without a window while the suite that calls this runs: wrap it in `describeWith('chromium', ...)`. Each test gets
 * a context of its own, without cookies; its pages are closed when it ends.
 * @param more of Chromium's options
 */
export function testBrowser(more: readonly string[] = []): { open(url: string, cookies?: readonly CookieData[]): Promise<WatchedPage> } {
  let browser: Browser;
  let context: BrowserContext | undefined;
  beforeAll(async () => {
    browser = await puppeteer.launch({
      executablePath: programPath('chromium'),
      // One process for what needs none of its own: to start each takes a second of a processor.
      args: [
        '--in-process-gpu',
        '--disable-extensions',
        '--renderer-process-limit=1',
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
  }, 60_000);
  afterEach(async () => {
    await context?.close();
    context = undefined;
  });
  afterAll(() => browser.close());
  return {
    async open(url, cookies = []) {
      context ??= await browser.createBrowserContext();
      await context.setCookie(...cookies);
      const page = await context.newPage();
      page.setDefaultTimeout(30_000);
      const complaints: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warn') complaints.push(`${message.type()}: ${message.text()}`);
      });
      page.on('pageerror', (error) => complaints.push(String(error)));
      page.on('request', (request) => {
        const { protocol, origin } = new URL(request.url());
        if (!['data:', 'blob:'].includes(protocol) && origin !== new URL(url).origin) complaints.push(`asks ${request.url()}`);
      });
      await page.goto(url, { waitUntil: 'load' });
      return { page, complaints };
    },
  };
}
