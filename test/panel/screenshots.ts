import { mkdirSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import puppeteer, { type HTTPRequest, type Page } from 'puppeteer-core';
import { startTargets } from '../dev/targets.ts';
import { endChildren } from '../support/child.ts';
import { AGENT_KEYS, seedDevelopment, writeSharedFiles } from '../support/development-data.ts';
import { programPath } from '../support/find-program.ts';
import { startAgent, startServer } from '../support/processes.ts';
import { removeScratchDirectories } from '../support/scratch.ts';
import { accessibilityProblems } from './axe.ts';

/*
 * `npm run panel:screenshots [-- NAME...]`: pictures of every page of the panel, in both languages, wide and narrow, light and dark, in
 * .cache/panel-screenshots; names choose pages. Also prints what axe-core finds, and which pages can be scrolled sideways.
 */
const directory = path.resolve(import.meta.dirname, '../../.cache/panel-screenshots');
const names = process.argv.slice(2);
const password = 'the password of the screenshots';

/** The pages, by the name of the picture. */
const pages: Readonly<Record<string, string>> = {
  dashboard: '/',
  welcome: '/welcome',
  clients: '/clients',
  'clients-none-match': '/clients?q=nothing-like-this',
  'client-new': '/clients/new',
  client: '/clients/1',
  'client-hosts': '/clients/1/hosts',
  'client-connections': '/clients/1/connections',
  'client-traffic': '/clients/1/traffic',
  'client-limits': '/clients/2/limits',
  'client-audit': '/clients/1/audit',
  'client-edit': '/clients/1/edit',
  'client-away': '/clients/3',
  tunnels: '/tunnels',
  'tunnel-new': '/tunnels/new?client=1',
  tunnel: '/tunnels/1',
  'tunnel-secret': '/tunnels/6',
  hosts: '/hosts',
  'host-new': '/hosts/new?client=1',
  host: '/hosts/2',
  diagnosis: '/diagnosis',
  'diagnosis-stopped': '/diagnosis?url=http://stopped.localhost.example/',
  'diagnosis-mistyped': '/diagnosis?url=http://wep.localhost.example/',
  'diagnosis-tunnel': '/diagnosis?tunnel=1&probe=1',
  users: '/users',
  'user-new': '/users/new',
  user: '/users/1',
  audit: '/audit',
  tokens: '/tokens',
  sessions: '/sessions',
  lockouts: '/lockouts',
  'platform-domains': '/platform-domains',
  settings: '/settings',
  wall: '/wall',
  login: '/login/index',
  'not-found': '/clients/1/nothing/here',
};
const variants = [
  { suffix: 'en-wide', width: 1280, language: 'en', theme: 'light' },
  { suffix: 'en-narrow', width: 360, language: 'en', theme: 'light' },
  { suffix: 'zh-wide', width: 1280, language: 'zh', theme: 'dark' },
  { suffix: 'zh-narrow', width: 360, language: 'zh', theme: 'dark' },
];

async function settle(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector('h1') !== null && document.querySelector('.skeleton') === null, { timeout: 15_000 }).catch(() => {
    process.stdout.write(`  ${page.url()} does not settle\n`);
  });
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
}

const server = await startServer({ environment: { ADIT_ADMIN_PASSWORD: password, ADIT_PUBLIC_URL: 'https://tunnel.example.com' } });
const targets = await startTargets(0);
await seedDevelopment(server, { ...targets, files: writeSharedFiles(server.dataDir) }, 0);
for (const key of AGENT_KEYS) await startAgent(server, key);
const origin = `http://127.0.0.1:${server.httpPort}`;
const browser = await puppeteer.launch({
  executablePath: programPath('chromium'),
  args: ['--no-sandbox', '--disable-gpu', '--in-process-gpu', '--force-device-scale-factor=1'],
});
mkdirSync(directory, { recursive: true });
try {
  const page = await browser.newPage();
  page.on('pageerror', (error) => process.stdout.write(`  error on ${page.url()}: ${String(error)}\n`));
  page.on('console', (message) => {
    if (['error', 'warn'].includes(message.type())) process.stdout.write(`  console on ${page.url()}: ${message.text()}\n`);
  });
  await page.goto(`${origin}/login/index`);
  await page.evaluate(async (secret) => {
    await fetch('/login/verify', { method: 'POST', body: new URLSearchParams({ username: 'admin', password: secret }) });
  }, password);
  for (const { suffix, width, language, theme } of variants) {
    await page.setViewport({ width, height: width < 500 ? 740 : 800 });
    await page.evaluate(
      (chosen, colours) => {
        localStorage.setItem('adit.language', chosen);
        localStorage.setItem('adit.theme', colours);
        localStorage.setItem('adit.welcome', 'done');
      },
      language,
      theme,
    );
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
      await settle(page);
      const height = await page.evaluate(() => document.documentElement.scrollHeight);
      await page.setViewport({ width, height });
      await page.screenshot({ path: path.join(directory, `${name}-${suffix}.png`) });
      await page.setViewport({ width, height: width < 500 ? 740 : 800 });
      const problems = await accessibilityProblems(page);
      const isWide = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
      if (isWide) problems.push('can be scrolled sideways');
      for (const problem of problems) process.stdout.write(`${name}-${suffix}: ${problem}\n`);
    }
  }
} finally {
  await browser.close();
  await endChildren();
  removeScratchDirectories();
}
process.exit();
