import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'puppeteer-core';
import { testBrowser } from '../support/browser.ts';
import { endChildren } from '../support/child.ts';
import { logIn } from '../panel/panel.ts';
import { cheapHashes, startServer, write } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { removeScratchDirectories } from '../support/scratch.ts';

// Short form: test/panel/first-visit.test.ts

const password = 'the password of the browser';

/** Chooses an endpoint of the page at /api and sends it with these parameters. @returns what the page shows then */
async function call(page: Page, endpoint: string, parameters: Readonly<Record<string, string>>): Promise<{ status: string; answer: string }> {
  await page.select('#operation', endpoint);
  for (const [name, text] of Object.entries(parameters)) {
    await page.focus(`#parameter-${name}`);
    await page.keyboard.sendCharacter(text);
  }
  await page.click('#call button');
  await page.waitForFunction(() => /^\d{3} /.test(document.querySelector('output')?.value ?? ''));
  return page.evaluate(() => ({ status: document.querySelector('output')?.value ?? '', answer: document.querySelector('#answer')?.textContent ?? '' }));
}

describeWith('chromium', 'in a browser', () => {
  const browser = testBrowser();
  /** By base path. */
  const urls = new Map<string, string>();
  beforeAll(async () => {
    for (const basePath of ['', '/adit']) {
      const server = await startServer({ environment: { ...cheapHashes, ADIT_BASE_PATH: basePath, ADIT_ADMIN_PASSWORD: password } });
      await write({ httpPort: server.httpPort }, `${basePath}/client/add/`, { vkey: 'first-key', remark: 'first' });
      urls.set(basePath, `http://127.0.0.1:${server.httpPort}${basePath}`);
    }
  });
  afterAll(async () => {
    await endChildren();
    removeScratchDirectories();
  });

  describe.each(['', '/adit'])('below the base path "%s"', (basePath) => {
    test('the page that tries the API lists its endpoints, logs in, calls, and shows the answer, with nothing from elsewhere and no complaint', async () => {
      const { page, complaints } = await browser.open(`${urls.get(basePath)}/api`);
      await page.waitForFunction(() => document.querySelectorAll('#operation option').length > 30);
      expect(await page.$eval('#description', (link) => link.getAttribute('href'))).toBe(`${basePath}/openapi.json`);
      expect(await call(page, 'post_client_list', {})).toMatchObject({ status: '401 Unauthorized' });
      // The browser itself complains of the status.
      expect(complaints.filter((text) => !text.includes('401'))).toEqual([]);

      expect(await call(page, 'post_login_verify', { username: 'admin', password })).toEqual({
        status: '200 OK',
        answer: JSON.stringify({ status: 1, msg: 'login success' }, null, 2),
      });
      const { status, answer } = await call(page, 'post_client_list', { search: 'first' });
      expect([status, JSON.parse(answer)]).toMatchObject(['200 OK', { total: 1, rows: [{ Id: 1, VerifyKey: 'first-key' }] }]);
      expect(await call(page, 'get_client_getclient', { id: '1' })).toMatchObject({ status: '200 OK', answer: expect.stringContaining('"Remark": "first"') });
      expect(await call(page, 'post_client_add', { remark: '<b>"&' })).toMatchObject({ answer: expect.stringContaining('add success') });
      expect(complaints.filter((text) => !text.includes('401'))).toEqual([]);
    });
  });

  test('the login page reports a wrong password, and redirects to the start page with a session after the right one', async () => {
    const url = urls.get('/adit');
    const { page, complaints } = await browser.open(`${url}/client/list`);
    expect(page.url()).toBe(`${url}/login/index`);
    await logIn(page, 'admin', 'wrong');
    await page.waitForSelector('[role=alert]');
    expect(await page.$eval('[role=alert]', (alert) => alert.textContent)).toContain('The name or the password is wrong.');
    await page.$eval('form', (form) => form.reset());
    await Promise.all([page.waitForNavigation(), logIn(page, 'admin', password)]);
    expect(page.url()).toBe(`${url}/`);
    expect((await page.goto(`${url}/graphql`))?.status()).toBe(200);
    expect(complaints).toEqual([]);
  });

  test('the login page works without scripts', async () => {
    const url = urls.get('');
    const { page } = await browser.open(`${url}/`);
    await page.setJavaScriptEnabled(false);
    await page.goto(`${url}/login/index`);
    await Promise.all([page.waitForNavigation(), logIn(page, 'admin', password)]);
    expect(page.url()).toBe(`${url}/login/verify`);
    expect((await page.goto(`${url}/graphql`))?.status()).toBe(200);
  });
});
