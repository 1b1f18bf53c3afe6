import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'puppeteer-core';
import { endurance } from '../support/endurance.ts';
import { describeWith } from '../support/programs.ts';
import { accessibilityProblems } from './axe.ts';
import { pages, seedPages, settle, show, type Variant, variants } from './pages.ts';
import { testPanel } from './panel.ts';
import { states } from './states.ts';

// Short form: test/panel/first-visit.test.ts

/** In `npm run test:slow`, every eighth page and state is looked at, in one of the four ways; the suites of the pages look at others. */
function looked<T>(all: readonly T[], variant: Variant): readonly T[] {
  return endurance ? all : all.filter((_each, at) => at % (8 * variants.length) === 8 * variants.indexOf(variant));
}

/** What axe-core finds, and whether the page is too wide. */
async function problemsOf(page: Page): Promise<readonly string[]> {
  const isWide = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
  return [...await accessibilityProblems(page), ...isWide ? ['scrolls sideways'] : []];
}

describeWith('chromium', "the panel's pages", () => {
  const panel = testPanel('');
  beforeAll(() => seedPages(panel.server()));

  test.each(variants)('have no accessibility problem and do not scroll sideways, whatever is open above them: $suffix', async (variant) => {
    const { page } = await panel.open('/login/index');
    await show(page, variant);
    const found: string[] = [];
    for (const [name, path] of looked(Object.entries(pages), variant)) {
      await page.goto(panel.origin() + path);
      await settle(page);
      found.push(...(await problemsOf(page)).map((problem) => `${name}: ${problem}`));
    }
    for (const state of looked(states, variant)) {
      await page.goto(panel.origin() + state.path);
      await settle(page);
      await state.open(page);
      await page.waitForSelector(state.shows).catch((error: unknown) => found.push(`${state.name}: ${String(error)}`));
      found.push(...(await problemsOf(page)).map((problem) => `${state.name}: ${problem}`));
      await page.setOfflineMode(false);
    }
    expect(found).toEqual([]);
  }, 600_000);
});
