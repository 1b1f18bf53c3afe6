import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type AnsweringOrigin, settleDates, startNginxOrigin, startNodeOrigin } from '../../support/answering-origins.ts';
import { endChildren } from '../../support/child.ts';
import type { Conversation } from '../../support/conversation.ts';
import { converse } from '../../support/converse.ts';
import { describeWith } from '../../support/programs.ts';
import { startRawOrigin } from '../../support/raw-origin.ts';
import { removeScratchDirectories } from '../../support/scratch.ts';
import { startVhostRig, type VhostRig } from '../../support/vhost-rig.ts';
import { requestBodies, responses } from './cases/bodies.ts';
import { aborts, connections, streams } from './cases/connections.ts';
import { headerFields } from './cases/fields.ts';
import { interim, upgrades } from './cases/interim.ts';
import { methods } from './cases/methods.ts';
import { nginxCases } from './cases/nginx.ts';
import { nodeCases } from './cases/node.ts';

let rig: VhostRig;
beforeAll(async () => {
  rig = await startVhostRig();
});

/** Byte by byte, on both sides of a server with a real agent. */
const topics: Readonly<Record<string, readonly Conversation[]>> = {
  'methods, targets and versions': methods,
  'bodies of requests': requestBodies,
  'bodies of responses': responses,
  'interim responses': interim,
  upgrades: upgrades,
  'connections that serve several requests': connections,
  'streams, unbuffered': streams,
  'connections that break': aborts,
  'header fields': headerFields,
};

describe.each(Object.entries(topics))('%s', (_topic, cases) => {
  test.each(cases.map((each) => [each.name, each] as const))('%s', async (_name, conversation) => {
    const raw = await startRawOrigin();
    const remove = await rig.host({ targets: [raw.target], ...conversation.host });
    try {
      expect(await converse(conversation, rig.httpPort, { raw })).toBe(conversation.steps.length);
    } finally {
      raw.close();
      await remove();
    }
  });
});

/** The same with an origin that answers by itself. */
function testAnswering(start: () => Promise<AnsweringOrigin>, cases: readonly Conversation[]): void {
  let answering: AnsweringOrigin;
  beforeAll(async () => {
    answering = await start();
  });
  afterAll(() => answering.close());

  test.each(cases.map((each) => [each.name, each] as const))('%s', async (_name, conversation) => {
    answering.taken.length = 0;
    const remove = await rig.host({ targets: [answering.target], ...conversation.host });
    try {
      await converse(conversation, rig.httpPort, { took: () => answering.took(), settle: settleDates });
      expect(answering.taken).toEqual([]);
    } finally {
      await remove();
    }
  });
}

describe('with node:http as the origin', () => testAnswering(startNodeOrigin, nodeCases));

describeWith('nginx', 'with nginx as the origin', () => {
  afterAll(async () => {
    await endChildren();
    removeScratchDirectories();
  });
  testAnswering(startNginxOrigin, nginxCases);
});
