import http from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { CDPSession, Page } from 'puppeteer-core';
import { startAgent } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { shows, testPanel } from './panel.ts';

/** How long the pages are watched, in seconds. */
const seconds = Number(process.env['ADIT_PANEL_SECONDS'] ?? 3600);
/** The baseline is taken after this share of the time: until then, caches fill. */
const settling = 1 / 3;
/** How much more may be in use at the end: caches and compiled code still change a little. */
const allowed = { heap: 1.1, nodes: 1.1 };
const clients = 60;

interface Usage {
  readonly heap: number;
  readonly nodes: number;
}

async function usageOf(session: CDPSession): Promise<Usage> {
  // Twice: what is released by the first one may release more.
  for (let times = 0; times < 2; times++) await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  const { nodes } = await session.send('Memory.getDOMCounters');
  return { heap: usedSize, nodes };
}

/** Opens a page by its link in the navigation, and waits until it is shown. */
async function visit(page: Page, address: string, heading: string): Promise<void> {
  await page.evaluate((href) => document.querySelector<HTMLElement>(`.sidebar a[href="${href}"]`)?.click(), `/adit${address}`);
  await page.waitForFunction((wanted) => document.querySelector('h1')?.textContent === wanted, {}, heading);
}

describeWith('chromium', "the panel's memory", () => {
  const panel = testPanel();
  const ids: number[] = [];
  let target: http.Server;
  beforeAll(async () => {
    target = http.createServer((_request, response) => response.end('x'.repeat(10_000))).listen(0, '127.0.0.1');
    for (let at = 0; at < clients; at++) ids.push(await panel.write('/client/add/', { vkey: `key ${at}`, remark: `client ${at}` }));
    await panel.write('/index/addhost/', {
      client_id: ids[0] ?? 0,
      host: 'memory.example.com',
      target: `127.0.0.1:${(target.address() as AddressInfo).port}`,
      scheme: 'http',
    });
    await startAgent(panel.server(), 'key 0');
  });
  afterAll(() => void target.close());

  test(`does not grow during ${seconds} s of live updates on changing pages`, async () => {
    const { page, complaints } = await panel.open('/');
    await shows(page, 'Most traffic now');
    const session = await page.createCDPSession();
    await session.send('HeapProfiler.enable');
    const start = performance.now();
    const isOver = (share: number): boolean => performance.now() - start > seconds * 1000 * share;
    let updates = 0;
    const update = async (): Promise<void> => {
      const at = updates++ % clients;
      await panel.write('/client/edit/', { id: ids[at] ?? 0, remark: `client ${at}, ${updates}` });
      const response = await fetch(`http://127.0.0.1:${panel.server().hostsPort}/`, { headers: { host: 'memory.example.com', connection: 'close' } }).catch(
        () => undefined,
      );
      await response?.text();
    };
    const round = async (): Promise<void> => {
      for (const [address, heading] of [['/', 'Dashboard'], ['/clients', 'Clients'], ['/hosts', 'Hosts'], ['/audit', 'Audit log']] as const) {
        await visit(page, address, heading);
        for (let times = 0; times < 40; times++) await update();
      }
    };
    do await round(); while (!isOver(settling));
    const baseline = await usageOf(session);
    do await round(); while (!isOver(1));
    const end = await usageOf(session);
    const megabytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(1);
    process.stdout.write(
      `${seconds} s, ${updates} updates: heap ${megabytes(baseline.heap)} MB, then ${megabytes(end.heap)}; nodes ${baseline.nodes}, then ${end.nodes}\n`,
    );
    expect(updates).toBeGreaterThan(20);
    expect(end.heap).toBeLessThan(baseline.heap * allowed.heap);
    expect(end.nodes).toBeLessThan(baseline.nodes * allowed.nodes);
    expect(complaints).toEqual([]);
  }, (seconds + 120) * 1000);
});
