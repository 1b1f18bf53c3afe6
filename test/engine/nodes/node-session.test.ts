import { expect, test } from '@jest/globals';
import { LinkKeys } from '../../../src/engine/bridge/link-keys.ts';
import { NodeSession } from '../../../src/engine/bridge/node-session.ts';
import { Batch } from '../../../src/wire/batch.ts';
import { Frame } from '../../../src/wire/frames.ts';
import { EmptySocket } from '../../support/empty-socket.ts';
import { eventually } from '../../support/eventually.ts';
import { LogRecorder } from '../../support/log-recorder.ts';

test('a message of another node that this version does not know is logged and otherwise ignored', async () => {
  const socket = new EmptySocket();
  const log = new LogRecorder();
  const received: unknown[] = [];
  const session = new NodeSession({
    id: '1',
    key: Buffer.alloc(32),
    socket,
    log: log.logger,
    mux: { heartbeatMs: 60_000 },
    info: { name: 'other', version: '2', host: '127.0.0.1', port: 1, bridgePort: 1 },
    secret: '',
    handlers: {
      keys: new LinkKeys(''),
      linkKind: 'tls',
      onNode: () => undefined,
      onStream: () => undefined,
      onMessage: (node, message) => received.push([node, message]),
    },
    onGone: () => undefined,
  });
  const known = { type: 'allowed', clientId: 1, address: '192.0.2.1' };
  for (const message of [{ type: 'of the next version' }, known]) {
    const batch = new Batch();
    batch.frame(Frame.CONTROL, 0, Buffer.from(JSON.stringify(message)));
    batch.drainTo((bytes) => socket.sink?.onData(Buffer.from(bytes)));
  }
  await log.line(/the node sent a message that this server does not know/);
  await eventually(() => received.length, (count) => count > 0);
  expect(received).toEqual([['other', known]]);
  expect(await log.line(/^node connected$/)).toMatchObject({ node: 'other', version: '2' });
  session.close('shutdown');
  expect(await log.line(/^node disconnected$/)).toMatchObject({ node: 'other' });
});

test('the secret that is used, and the one that replaces it next, stay accepted when the previous one is forgotten', () => {
  const keys = new LinkKeys('previous');
  keys.use('current', 'next');
  const accepted = (forgotten: string): string[] => {
    keys.forget(forgotten);
    return ['previous', 'current', 'next'].filter((key) => keys.accepts(key));
  };
  expect(['previous', 'current', 'next'].map(accepted)).toEqual([['current', 'next'], ['current', 'next'], ['current']]);
});
