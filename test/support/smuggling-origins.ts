import http from 'node:http';
import { once } from 'node:events';
import { type AnsweringOrigin, startNginxOrigin, startNodeOrigin } from './answering-origins.ts';
import type { TakenRequest } from './conversation.ts';
import type { Program } from './debian-packages.ts';
import { startLenientOrigin } from './lenient-origin.ts';

/** The origins that nothing may be smuggled to, and the programs they need. */
export const smugglingOrigins: ReadonlyArray<{ readonly name: string; readonly programs: readonly Program[]; readonly start: () => Promise<AnsweringOrigin> }> =
  [
    { name: 'node:http', programs: [], start: startNodeOrigin },
    { name: 'nginx', programs: ['nginx'], start: startNginxOrigin },
    { name: 'an origin that takes anything', programs: [], start: startLenientOrigin },
  ];

/** All that an origin has taken up to now: it is asked for something itself, so that nothing before that is still on its way. */
export async function takenByNow({ target, took }: AnsweringOrigin): Promise<TakenRequest[]> {
  const request = http.get(`http://${target}/marker`, { agent: false });
  const [response] = await once(request, 'response') as [http.IncomingMessage];
  response.resume();
  await once(response, 'end');
  const all: TakenRequest[] = [];
  for (let next = await took(); next.line !== 'GET /marker HTTP/1.1'; next = await took()) all.push(next);
  return all;
}
