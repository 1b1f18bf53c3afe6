import { expect, test } from '@jest/globals';
import { Frame } from '../../src/wire/frames.ts';
import { Mux } from '../../src/wire/mux.ts';
import { EmptySocket } from '../support/empty-socket.ts';

const frame = (type: number, payload: number[] = []): Buffer => Buffer.from([type, 0, 0, 0, 1, 0, 0, 0, payload.length, ...payload]);

/** A server's stream whose other direction has moved to a data connection, on which a byte came. */
function moved() {
  const mux = new Mux(new EmptySocket(), 'server', { onOpen: () => undefined, onControl: () => undefined, onClose: () => undefined });
  const [local, data] = [new EmptySocket(), new EmptySocket()];
  mux.open(Buffer.alloc(0))?.join(local);
  mux.addDataConnection(data, 2);
  mux.onData(frame(Frame.MOVE, [0, 0, 0, 2]));
  data.sink?.onData(Buffer.from('x'));
  return { mux, local, data };
}

test('the end of a data connection alone is no end: that of a killed agent ends too', () => {
  const { mux, local, data } = moved();
  data.sink?.onEnd();
  expect(local).toMatchObject({ received: '78', ended: false, destroyed: false });
  mux.onClose();
  expect(local).toMatchObject({ ended: false, destroyed: true });
});

test.each([[['fin', 'raw']], [['raw', 'fin']]])('a direction that moved ends when its end was said on both (%s)', (order) => {
  const { mux, local, data } = moved();
  for (const end of order) {
    expect(local.ended).toBe(false);
    if (end === 'fin') mux.onData(frame(Frame.FIN));
    else data.sink?.onEnd();
  }
  expect(local).toMatchObject({ ended: true, destroyed: false });
  mux.onClose();
});

test('what comes between the end on the mux and that of the data connection is delivered', () => {
  const { mux, local, data } = moved();
  mux.onData(frame(Frame.FIN));
  data.sink?.onData(Buffer.from('y'));
  data.sink?.onEnd();
  expect(local).toMatchObject({ received: '7879', ended: true });
  mux.onClose();
});

test('an idle data connection that the peer ends is closed, one with bytes of a direction whose MOVE is on its way is not', () => {
  const mux = new Mux(new EmptySocket(), 'server', { onOpen: () => undefined, onControl: () => undefined, onClose: () => undefined });
  const [idle, early] = [new EmptySocket(), new EmptySocket()];
  mux.addDataConnection(idle, 2);
  mux.addDataConnection(early, 4);
  early.sink?.onData(Buffer.from('x'));
  for (const { sink } of [idle, early]) sink?.onEnd();
  expect([idle.destroyed, early.destroyed, early.ended]).toEqual([true, false, false]);
  mux.onClose();
});
