import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AnsweringOrigin } from '../../support/answering-origins.ts';
import { endChildren } from '../../support/child.ts';
import { describeWith } from '../../support/programs.ts';
import { removeScratchDirectories } from '../../support/scratch.ts';
import { smugglingOrigins, takenByNow } from '../../support/smuggling-origins.ts';
import { exchange } from '../../support/vhost.ts';
import { startVhostRig, type VhostRig } from '../../support/vhost-rig.ts';
import { chunks, framings, heads, inner, soundChunks, start } from './cases/smuggling.ts';

let rig: VhostRig;
beforeAll(async () => {
  rig = await startVhostRig();
});
afterAll(async () => {
  await endChildren();
  removeScratchDirectories();
});

for (const { name, programs, start: startOrigin } of smugglingOrigins) {
  describeWith(programs, `with ${name} as the origin`, () => {
    let origin: AnsweringOrigin;
    let remove: () => Promise<void>;
    beforeAll(async () => {
      origin = await startOrigin();
      remove = await rig.host({ targets: [origin.target] });
    });
    afterAll(async () => {
      await remove();
      await origin.close();
    });

    /** The statuses of all answers, whether the connection was closed as they say, and the requests that reached the origin. */
    async function outcome(request: string) {
      const answer = await exchange(rig.httpPort, request);
      const closing = /\r\nConnection: close\r\n/.test(answer);
      return {
        statuses: Array.from(answer.matchAll(/HTTP\/1\.1 (\d+) /g), ([, status]) => status).join(),
        closing,
        reached: (await takenByNow(origin)).map(({ line }) => line),
      };
    }

    const refused = { statuses: '400', closing: true, reached: [] };

    describe('a request whose end is in doubt is refused, and nothing of it reaches the origin', () => {
      test.each(framings)('%j', async (fields) => {
        expect(await outcome(`${start}${fields}\r\n\r\n0\r\n\r\n${inner}`)).toEqual(refused);
      });
    });

    describe('a head that is malformed is refused, and nothing of it reaches the origin', () => {
      test.each(heads)('%j', async (head) => {
        expect(await outcome(`${head}\r\n\r\n${inner}`)).toEqual(refused);
      });
    });

    test('HTTP/1.0 knows no chunks', async () => {
      expect(await outcome(`POST / HTTP/1.0\r\nHost: example.test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`)).toEqual(refused);
    });

    test('an unsupported coding is refused with 501, an ambiguous one with 400', async () => {
      expect(await outcome(`${start}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n${inner}`)).toEqual({ ...refused, statuses: '501' });
    });

    describe('a body is a body, whatever it looks like', () => {
      test.each(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])('of %s', async (method) => {
        const { reached } = await outcome(
          `${method} /outer HTTP/1.1\r\nHost: example.test\r\nConnection: close\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
        );
        expect(reached).toEqual([`${method} /outer HTTP/1.1`]);
      });

      test.each(soundChunks)('%j', async (body) => {
        const { reached } = await outcome(`POST /outer HTTP/1.1\r\nHost: example.test\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${body}`);
        expect(reached).toEqual(['POST /outer HTTP/1.1']);
      });

      test('any fields that Connection names', async () => {
        const { reached } = await outcome(
          `POST /outer HTTP/1.1\r\nHost: example.test\r\nConnection: close, content-length, transfer-encoding, host\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
        );
        expect(reached).toEqual(['POST /outer HTTP/1.1']);
      });

      test('that waits for 100, or does not', async () => {
        const { reached } = await outcome(
          `POST /outer HTTP/1.1\r\nHost: example.test\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
        );
        expect(reached).toEqual(['POST /outer HTTP/1.1']);
      });

      test('of a request that asks for an upgrade, which is not made', async () => {
        const { reached } = await outcome(
          `POST /text HTTP/1.1\r\nHost: example.test\r\nConnection: upgrade, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
        );
        expect(reached).toEqual(['POST /text HTTP/1.1']);
      });
    });

    // Only the last ones: what was cut off may be reported later.
    describe('a chunked body that is malformed is refused; the origin sees the request that it was sent with, cut off, and no other', () => {
      test.each(chunks)('%j', async (chunk) => {
        const { reached, ...answered } = await outcome(`${start}Transfer-Encoding: chunked\r\n\r\n${chunk}0\r\n\r\n${inner}`);
        expect(answered).toEqual({ statuses: '400', closing: true });
        expect(reached.filter((line) => line !== 'POST / HTTP/1.1')).toEqual([]);
      });
    });
  });
}
