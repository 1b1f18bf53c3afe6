import { beforeAll, expect, test } from '@jest/globals';
import { endurance } from '../support/endurance.ts';
import { describeWith } from '../support/programs.ts';
import { accessibilityProblems } from './axe.ts';
import { pages, seedPages, settle, show, variants } from './pages.ts';
import { testPanel } from './panel.ts';

/** In `npm test`, every page is looked at in one of the four ways only. */
const looked = Object.entries(pages).flatMap(([name, path], at) =>
  variants.filter((_variant, which) => endurance || which === at % variants.length).map((variant) => ({ name: `${name}-${variant.suffix}`, path, variant }))
);

describeWith('chromium', "the panel's pages", () => {
  const panel = testPanel('');
  beforeAll(() => seedPages(panel.server()), 60_000);

  test.each(variants)('have no accessibility problem and do not scroll sideways: $suffix', async (variant) => {
    const { page } = await panel.open('/login/index');
    await show(page, variant);
    const problems: string[] = [];
    for (const { name, path } of looked.filter((each) => each.variant === variant)) {
      await page.goto(panel.origin() + path);
      await settle(page);
      problems.push(...(await accessibilityProblems(page)).map((problem) => `${name}: ${problem}`));
      if (await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth)) problems.push(`${name} scrolls sideways`);
    }
    expect(problems).toEqual([]);
  }, 240_000);
});
