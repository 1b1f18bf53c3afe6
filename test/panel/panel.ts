import { afterAll, beforeAll } from '@jest/globals';
import type { CookieData, Page } from 'puppeteer-core';
import { testBrowser, type WatchedPage } from '../support/browser.ts';
import { endChildren } from '../support/child.ts';
import { eventuallyAsync } from '../support/eventually.ts';
import { cheapHashes, type Parameters, type ServerProcess, startServer, write } from '../support/processes.ts';
import { removeScratchDirectories } from '../support/scratch.ts';

/** The administrator's password on the servers of these suites. */
export const password = 'the password of the panel';

/** Waits until the page shows a text. */
export async function shows(page: Page, text: string): Promise<void> {
  // A page that is being replaced by the next one has no body for a moment.
  await page.waitForFunction((wanted) => document.querySelector('body')?.innerText.includes(wanted) === true, {}, text);
}

/** Waits until the page no longer shows a text. */
export async function hides(page: Page, text: string): Promise<void> {
  await page.waitForFunction((unwanted) => document.querySelector('body')?.innerText.includes(unwanted) === false, {}, text);
}

/** Presses the first visible control with this text, label or name for assistive programs. */
export async function press(page: Page, name: string): Promise<void> {
  const handle = await page.waitForFunction(
    (wanted) =>
      [...document.querySelectorAll<HTMLElement>('button, a, summary, [role=menuitem], input[type=checkbox]')].find((item) => {
        const label = item.getAttribute('aria-label') ?? (item instanceof HTMLInputElement ? item.labels?.[0]?.innerText : item.innerText);
        return label?.trim() === wanted && item.checkVisibility();
      }),
    {},
    name,
  );
  await handle.asElement()?.evaluate((item) => (item as HTMLElement).click());
}

/** Chooses an entry of the menu that is open. */
export async function chooseEntry(page: Page, entry: string): Promise<void> {
  await page.waitForSelector('[role=menu]');
  await page.$$eval('[role=menuitem]', (items, text) => (items.find((each) => each.textContent === text) as HTMLElement | undefined)?.click(), entry);
  await page.waitForFunction(() => document.querySelector('[role=menu]') === null);
}

/** Chooses an entry of the menu that a button with this name opens. */
export async function choose(page: Page, menu: string, entry: string): Promise<void> {
  await press(page, menu);
  await chooseEntry(page, entry);
}

/** Presses a button of the question that is open. */
export async function answer(page: Page, button: string): Promise<void> {
  await page.waitForSelector('[role=alertdialog]');
  await page.$$eval('[role=alertdialog] button', (buttons, text) => buttons.find((each) => each.textContent === text)?.click(), button);
  await page.waitForFunction(() => document.querySelector('[role=alertdialog]') === null);
}

/** Enters a text into the field with this label, instead of what it contained: at once, as a paste does. Not by a click: the foot of a form may lie above the field. */
export async function enter(page: Page, label: string, text: string): Promise<void> {
  const field = await page.waitForSelector(`::-p-aria(${label})`);
  await field?.evaluate((element) => {
    (element as HTMLInputElement).focus();
    (element as HTMLInputElement).select();
  });
  if (text === '') await page.keyboard.press('Backspace');
  else await page.keyboard.sendCharacter(text);
}

/** Logs in on the login page. */
export async function logIn(page: Page, name: string, secret: string): Promise<void> {
  await page.waitForSelector('input[name=username]');
  await page.focus('input[name=username]');
  await page.keyboard.sendCharacter(name);
  await page.focus('input[name=password]');
  await page.keyboard.sendCharacter(secret);
  await page.click('form button');
}

/** Waits until these fields of the form, and no others, are marked as wrong, each with a text that it is described by. */
export async function problemsAt(page: Page, names: readonly string[]): Promise<void> {
  const wrong = (): Promise<string> =>
    page.$$eval('[aria-invalid=true]', (fields) =>
      fields.map((field) => {
        const ids = (field.getAttribute('aria-describedby') ?? '').split(' ');
        const isDescribed = ids.some((id) => id.endsWith('-error') && document.getElementById(id)?.textContent !== '');
        return `${field.id.replace('field-', '')}${isDescribed ? '' : ' without a text'}`;
      }).join());
  await eventuallyAsync(wrong, (found) => found === names.join());
}

/** Waits until the list shows these rows, in this order. */
export async function listsRows(page: Page, names: readonly string[]): Promise<void> {
  await page.waitForFunction(
    (wanted) => [...document.querySelectorAll('tbody tr[data-row] th .name')].map((link) => link.textContent).join('|') === wanted,
    {},
    names.join('|'),
  );
}

/** A server with the panel, and a browser, while a suite runs: wrap it in `describeWith('chromium', ...)`. @param publicUrl what the server takes for its URL; it serves plain HTTP */
export function testPanel(basePath = '/adit', publicUrl = 'http://127.0.0.1') {
  const environment = { ...cheapHashes, ADIT_ADMIN_PASSWORD: password, ADIT_PUBLIC_URL: publicUrl, ADIT_BASE_PATH: basePath };
  const browser = testBrowser();
  const sessions = new Map<string, CookieData>();
  let server: ServerProcess;
  beforeAll(async () => {
    server = await startServer({ environment });
  });
  afterAll(async () => {
    await endChildren();
    removeScratchDirectories();
  });

  const origin = (): string => `http://127.0.0.1:${server.httpPort}${basePath}`;
  async function sessionOf(username: string, secret: string): Promise<CookieData> {
    const response = await fetch(`${origin()}/login/verify`, {
      method: 'POST',
      body: new URLSearchParams({ username, password: secret }),
      headers: { connection: 'close' },
    });
    const [, name = '', value = ''] = /^([^=]+)=([^;]+)/.exec(response.headers.get('set-cookie') ?? '') ?? [];
    if (name === '') throw new Error(`${username} cannot log in: ${await response.text()}`);
    return { name, value, domain: '127.0.0.1', path: basePath === '' ? '/' : basePath };
  }
  return {
    server: () => server,
    origin,
    /** Starts the server again, after it has ended, on the same ports and data. */
    async restart(): Promise<void> {
      const { dataDir, httpPort, bridgePort, tlsPort } = server;
      server = await startServer({ dataDir, httpPort, bridgePort, tlsPort, environment });
    },
    /** Opens a page without a session, and waits for the login that it leads to: only there nothing replaces the page while a test evaluates. */
    async openLoggedOut(path: string): Promise<WatchedPage> {
      const opened = await browser.open(origin() + path);
      // Asks again and again: a wait that the redirect interrupts may never end.
      const missing = () =>
        opened.page.evaluate(() => document.querySelector('input[name=username]') ? '' : `the page shows: ${document.body.innerText}`).catch(String);
      await eventuallyAsync(missing, (text) => text === '', 120_000);
      return opened;
    },
    /** Opens a page without a session that needs none. */
    openPublic: (path: string): Promise<WatchedPage> => browser.open(origin() + path),
    /** Opens a page with a session, which the tests of a suite share. Left out = the administrator's. */
    async open(path: string, username = 'admin', secret = password): Promise<WatchedPage> {
      const session = sessions.get(username) ?? await sessionOf(username, secret);
      sessions.set(username, session);
      const opened = await browser.open(origin() + path, [session]);
      await opened.page.setViewport({ width: 1280, height: 800 });
      return opened;
    },
    /** Makes a signed call of the older API. @returns the id of a new record */
    write: (route: string, parameters: Parameters): Promise<number> => write({ httpPort: server.httpPort }, basePath + route, parameters),
  };
}
