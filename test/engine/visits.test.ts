import { expect, test } from '@jest/globals';
import pino from 'pino';
import { type VisitedTunnel, VisitorSession } from '../../src/engine/bridge/visitor-session.ts';
import { MAX_VISITS, Visits } from '../../src/engine/tunnels/visits.ts';
import { FairQueue } from '../../src/stream-handlers/fair-queue.ts';
import { EmptySocket } from '../support/empty-socket.ts';

test('a tunnel can have 1,000 visitors, and another one after one disconnects', () => {
  const visits = new Visits();
  const tunnel: VisitedTunnel = {
    id: 1,
    client: { online: true, crypt: false, compress: false },
    password: '',
    refusal: () => undefined,
    enter: (session) => visits.enter(session),
    leave: (session) => visits.leave(session),
    moved: () => undefined,
    tooMany: () => undefined,
    onVisitor: () => undefined,
    onDirect: () => undefined,
  };
  const sockets: EmptySocket[] = [];
  for (let index = 0; index < MAX_VISITS; index++) {
    expect(visits.full).toBe(false);
    const socket = new EmptySocket();
    sockets.push(socket);
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
    expect(session.path).toBe('relay');
  }
  expect(visits.full).toBe(true);
  sockets[5]?.destroy();
  expect(visits.full).toBe(false);
  visits.closeAll('tunnel-stopped');
  expect(visits.states).toEqual([]);
});
