import { mkdirSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import puppeteer, { type HTTPRequest } from 'puppeteer-core';
import { endChildren } from '../support/child.ts';
import { programPath } from '../support/find-program.ts';
import { startServer } from '../support/processes.ts';
import { removeScratchDirectories } from '../support/scratch.ts';
import { accessibilityProblems } from './axe.ts';
import { pages, seedPages, settle, show, variants } from './pages.ts';
import { states } from './states.ts';

/*
 * `npm run panel:screenshots [-- NAME...]`: pictures of every page of the panel, in both languages, wide and narrow, light and dark, in
 * .cache/panel-screenshots; names choose pages. Also prints what axe-core finds, and which pages can be scrolled sideways.
 */
const directory = path.resolve(import.meta.dirname, '../../.cache/panel-screenshots');
const names = process.argv.slice(2);
const password = 'the password of the screenshots';

const server = await startServer({ environment: { ADIT_ADMIN_PASSWORD: password, ADIT_PUBLIC_URL: 'https://tunnel.example.com' } });
await seedPages(server);
const origin = `http://127.0.0.1:${server.httpPort}`;
const browser = await puppeteer.launch({
  executablePath: programPath('chromium'),
  args: ['--no-sandbox', '--disable-gpu', '--in-process-gpu', '--force-device-scale-factor=1'],
});
mkdirSync(directory, { recursive: true });
try {
  const page = await browser.newPage();
  // The page asks before it closes with something typed.
  page.on('dialog', (dialog) => void dialog.accept());
  page.on('pageerror', (error) => process.stdout.write(`  error on ${page.url()}: ${String(error)}\n`));
  page.on('console', (message) => {
    if (['error', 'warn'].includes(message.type())) process.stdout.write(`  console on ${page.url()}: ${message.text()}\n`);
  });
  await page.goto(`${origin}/login/index`);
  await page.evaluate(async (secret) => {
    await fetch('/login/verify', { method: 'POST', body: new URLSearchParams({ username: 'admin', password: secret }) });
  }, password);
  for (const variant of variants) {
    const { suffix, width } = variant;
    await show(page, variant);
    for (const [name, address] of Object.entries(pages)) {
      if (names.length > 0 && !names.includes(name)) continue;
      const waiting = new Set<string>();
      const started = (request: HTTPRequest): void => void waiting.add(request.url());
      const ended = (request: HTTPRequest): void => void waiting.delete(request.url());
      page.on('request', started).on('requestfinished', ended).on('requestfailed', ended);
      await page.goto(origin + address).catch((error: unknown) => {
        process.stdout.write(`  ${address}: ${String(error)}, waiting for ${[...waiting].join(', ')}\n`);
      });
      page.off('request', started).off('requestfinished', ended).off('requestfailed', ended);
      await settle(page).catch((error: unknown) => process.stdout.write(`  ${page.url()} does not settle: ${String(error)}\n`));
      const height = await page.evaluate(() => document.documentElement.scrollHeight);
      await page.setViewport({ width, height });
      // Charts are drawn again in the new size.
      await settle(page);
      await page.screenshot({ path: path.join(directory, `${name}-${suffix}.png`) });
      await page.setViewport({ width, height: width < 500 ? 740 : 800 });
      const problems = await accessibilityProblems(page);
      const isWide = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
      if (isWide) problems.push('can be scrolled sideways');
      for (const problem of problems) process.stdout.write(`${name}-${suffix}: ${problem}\n`);
    }
    for (const state of states) {
      if (names.length > 0 && !names.includes(state.name)) continue;
      await page.goto(origin + state.path);
      await settle(page);
      await state.open(page);
      await page.waitForSelector(state.shows);
      await page.screenshot({ path: path.join(directory, `${state.name}-${suffix}.png`) });
      await page.setOfflineMode(false);
    }
  }
} finally {
  await browser.close();
  await endChildren();
  removeScratchDirectories();
}
process.exit();
