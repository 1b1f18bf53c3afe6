import { expect, test } from '@jest/globals';
import pino from 'pino';
import { type VisitedTunnel, VisitorSession } from '../../src/engine/bridge/visitor-session.ts';
import { MAX_VISITS, Visits } from '../../src/engine/tunnels/visits.ts';
import { FairQueue } from '../../src/stream-handlers/fair-queue.ts';
import { Batch } from '../../src/wire/batch.ts';
import { Frame } from '../../src/wire/frames.ts';
import { EmptySocket } from '../support/empty-socket.ts';
import { eventually } from '../support/eventually.ts';

/** A tunnel with visits, and its sessions over sockets without a network. */
function visited() {
  const visits = new Visits();
  let moves = 0;
  const tunnel: VisitedTunnel = {
    id: 1,
    client: { online: true, crypt: false, compress: false },
    password: '',
    refusal: () => undefined,
    enter: (session) => visits.enter(session),
    leave: (session) => visits.leave(session),
    moved: () => moves++,
    tooMany: () => undefined,
    onVisitor: () => undefined,
    onDirect: () => undefined,
  };
  const visit = (index: number) => {
    const socket = new EmptySocket();
    const session = new VisitorSession({
      id: String(index),
      key: Buffer.alloc(32),
      socket,
      tunnel,
      fairQueue: new FairQueue(1),
      since: 0,
      log: pino({ level: 'silent' }),
      mux: { heartbeatMs: 60_000 },
      onGone: () => undefined,
    });
    return { socket, session };
  };
  return { visits, visit, moves: () => moves };
}

test('a tunnel can have 1,000 visitors, and another one after one disconnects', () => {
  const { visits, visit } = visited();
  const sockets: EmptySocket[] = [];
  for (let index = 0; index < MAX_VISITS; index++) {
    expect(visits.full).toBe(false);
    const { socket, session } = visit(index);
    sockets.push(socket);
    expect(session.path).toBe('relay');
  }
  expect(visits.full).toBe(true);
  sockets[5]?.destroy();
  expect(visits.full).toBe(false);
  visits.closeAll('tunnel-stopped');
  expect(visits.states).toEqual([]);
});

test('the tunnel is notified of each change of a path, and of nothing else', async () => {
  const { visits, visit, moves } = visited();
  const { socket, session } = visit(1);
  for (
    const message of [{ type: 'path', path: 'direct' }, { type: 'path', path: 'direct' }, { type: 'path', path: 'nowhere' }, { type: 'path', path: 'relay' }]
  ) {
    const batch = new Batch();
    batch.frame(Frame.CONTROL, 0, Buffer.from(JSON.stringify(message)));
    batch.drainTo((bytes) => socket.sink?.onData(Buffer.from(bytes)));
  }
  await eventually(() => session.path, (path) => path === 'relay' && moves() > 0);
  expect(moves()).toBe(2);
  visits.closeAll('tunnel-stopped');
});
