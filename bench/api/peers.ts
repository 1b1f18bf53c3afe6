import { writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { Child } from '../../test/support/child.ts';
import { scratchDirectory } from '../../test/support/scratch.ts';
import { npsClient, npsMissing, startNps, type NpsServer } from '../sides/nps.ts';
import type { Called } from './calls.ts';

/** What the route of Express is called in reports and goals. */
export const EXPRESS = 'Express, same bytes';

/** A route of Express that answers with a fixed object as JSON. It gets the same form as the others, and doesn't look at it. */
export async function startExpress(page: unknown, called: Pick<Called, 'form' | 'connections'>): Promise<Called> {
  const file = path.join(scratchDirectory(), 'page.json');
  writeFileSync(file, JSON.stringify(page));
  const child = new Child(process.execPath, [path.join(import.meta.dirname, 'static-server.mjs'), file]);
  const [, port = ''] = await child.says(/listening on (\d+)/);
  return { ...called, name: EXPRESS, urls: [`http://127.0.0.1:${port}/page`], pids: [child.pid] };
}

/** An NPS server with so many clients, with the texts that ours have; undefined = there is no such program here. @param say prints that */
export async function startNpsWith(clients: number, say: (line: string) => void): Promise<NpsServer | undefined> {
  if (npsMissing === undefined) {
    return startNps({ clients: Array.from({ length: clients }, (_, index) => npsClient(index + 1, `key${index + 1}`, `office ${index + 1}`)) });
  }
  say(`left out NPS: ${npsMissing}`);
  return undefined;
}
