import type { Page } from 'puppeteer-core';

/** A page in a state that its address does not lead to: what opens it, and what shows that it is open. Holds in every language and width. */
export interface PageState {
  readonly name: string;
  readonly path: string;
  readonly open: (page: Page) => Promise<unknown>;
  readonly shows: string;
}

/** Opens the menu of the first row of a list by its key. */
async function openRowMenu(page: Page): Promise<void> {
  await page.waitForSelector('tbody tr[data-row]');
  await page.keyboard.press('j');
  await page.keyboard.press('.');
  await page.waitForSelector('[role=menu]');
}

async function submitWrongPort(page: Page): Promise<void> {
  await page.type('#field-port', '99999');
  await page.click('form button[type=submit]');
}

/** Layers above pages, wrong input, and a lost connection. */
export const states: readonly PageState[] = [
  { name: 'palette', path: '/clients', open: (page) => page.keyboard.press('/'), shows: '.palette [role=option]' },
  { name: 'shortcuts', path: '/clients', open: (page) => page.keyboard.press('?'), shows: '[role=dialog] dl' },
  { name: 'row-menu', path: '/clients', open: openRowMenu, shows: '[role=menu]' },
  {
    name: 'question',
    path: '/clients',
    async open(page) {
      await openRowMenu(page);
      await page.$$eval('[role=menuitem]', (items) => (items.at(-1) as HTMLElement).click());
    },
    shows: '[role=alertdialog]',
  },
  {
    name: 'selected',
    path: '/tunnels',
    async open(page) {
      await page.waitForSelector('tbody tr[data-row]');
      await page.keyboard.press('j');
      await page.keyboard.press('x');
    },
    shows: '.bulkbar',
  },
  { name: 'tunnel-errors', path: '/tunnels/new?client=1', open: submitWrongPort, shows: '[aria-invalid=true]' },
  { name: 'host-errors', path: '/hosts/new?client=1', open: (page) => page.click('form button[type=submit]'), shows: '[aria-invalid=true]' },
  { name: 'user-errors', path: '/users/new', open: (page) => page.click('form button[type=submit]'), shows: '[aria-invalid=true]' },
  {
    name: 'login-wrong',
    path: '/login/index',
    async open(page) {
      await page.type('input[name=username]', 'nobody');
      await page.type('input[name=password]', 'wrong');
      await page.click('form button');
    },
    shows: '[role=alert]',
  },
  { name: 'wall-screen', path: '/wall', open: (page) => page.click('.btn-primary'), shows: '.wall-foot' },
  {
    name: 'installation',
    path: '/clients/1',
    async open(page) {
      await page.click('[aria-labelledby=h-command] .seg button');
      await page.click('[aria-labelledby=h-command] .actions button');
    },
    shows: '[aria-labelledby=h-command] .banner-ok',
  },
  { name: 'lost', path: '/', open: (page) => page.setOfflineMode(true), shows: '.banner-warn' },
];
