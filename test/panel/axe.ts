import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'puppeteer-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** What axe-core finds on a page, one line for each element. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  // By the debugger's protocol, since the page's policy allows no scripts from elsewhere. Once for each document: to load it takes a tenth of a second.
  if (!await page.evaluate(() => 'axe' in globalThis)) await page.evaluate(source);
  // Colors between two states of a button are no problem.
  await page.evaluate(() => Promise.allSettled(document.getAnimations().map((animation) => animation.finished)));
  return page.evaluate(async (wanted) => {
    const { axe } = globalThis as unknown as {
      axe: { run(context: unknown, options: unknown): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }> };
    };
    // The elements at both ends of an open menu pass the focus on at once: nobody gets to them.
    const { violations } = await axe.run({ exclude: [['[data-base-ui-focus-guard]']] }, {
      runOnly: { type: 'tag', values: wanted },
      // Nothing but the violations is put together, and no rule with these tags needs the style sheets or frames.
      resultTypes: ['violations'],
      preload: false,
      iframes: false,
      selectors: false,
    });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary.replaceAll(/\s+/g, ' ').slice(0, 200)}`)
    );
  }, tags);
}
