import { expect, test } from '@jest/globals';
import { Batch } from '../../src/wire/batch.ts';
import { Frame, HEADER_BYTES } from '../../src/wire/frames.ts';

test('its size is that of all frames that wait, in however many buffers', () => {
  const batch = new Batch();
  const payload = Buffer.alloc(50_000);
  for (let count = 1; count <= 5; count++) {
    batch.frame(Frame.DATA, 1, payload);
    expect(batch.size).toBe(count * (HEADER_BYTES + payload.length));
  }
  let bytes = 0;
  batch.drainTo((piece) => {
    bytes += piece.length;
  });
  expect([bytes, batch.size]).toEqual([5 * (HEADER_BYTES + payload.length), 0]);
});
