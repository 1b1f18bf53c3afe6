import type { Page } from 'puppeteer-core';
import { startTargets } from '../dev/targets.ts';
import { AGENT_KEYS, seedDevelopment, writeSharedFiles } from '../support/development-data.ts';
import { type ServerProcess, startAgent } from '../support/processes.ts';

/** Every page of the panel, by the name of its picture, on a server with the development data. */
export const pages: Readonly<Record<string, string>> = {
  dashboard: '/',
  welcome: '/welcome',
  clients: '/clients',
  'clients-none-match': '/clients?q=nothing-like-this',
  'client-new': '/clients/new',
  client: '/clients/1',
  'client-hosts': '/clients/1/hosts',
  'client-connections': '/clients/1/connections',
  'client-traffic': '/clients/1/traffic',
  'client-sessions': '/clients/1/sessions',
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
  api: '/api',
  graphiql: '/graphql',
};
/** How a page is looked at. */
export interface Variant {
  readonly suffix: string;
  readonly width: number;
  readonly language: 'en' | 'zh';
  readonly theme: 'light' | 'dark';
}

/** Both languages and themes, wide and narrow. */
export const variants: readonly Variant[] = [
  { suffix: 'en-wide', width: 1280, language: 'en', theme: 'light' },
  { suffix: 'en-narrow', width: 360, language: 'en', theme: 'light' },
  { suffix: 'zh-wide', width: 1280, language: 'zh', theme: 'dark' },
  { suffix: 'zh-narrow', width: 360, language: 'zh', theme: 'dark' },
];

/** Gives an empty server records of every kind, and starts two agents. */
export async function seedPages(server: ServerProcess): Promise<void> {
  const targets = await startTargets(0);
  await seedDevelopment(server, { ...targets, files: writeSharedFiles(server.dataDir) }, 0);
  for (const key of AGENT_KEYS) await startAgent(server, key);
}

/** Chooses language, theme and width for the pages that are opened next. */
export async function show(page: Page, { width, language, theme }: Variant): Promise<void> {
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
}

/** Waits until a page shows its content. */
export async function settle(page: Page): Promise<void> {
  await page.waitForFunction(() =>
    document.querySelector('h1') !== null && document.querySelector('.skeleton') === null
    && (document.querySelector('.graphiql-container') === null || document.querySelector('textarea[aria-label=Response]') !== null)
  );
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
}
