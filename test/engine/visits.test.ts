import { expect, jest, test } from '@jest/globals';
import pino from 'pino';
import { type VisitedTunnel, VisitorSession } from '../../src/engine/bridge/visitor-session.ts';
import { Visits } from '../../src/engine/tunnels/visits.ts';
import { FairQueue } from '../../src/stream-handlers/fair-queue.ts';
import { Batch } from '../../src/wire/batch.ts';
import { Frame } from '../../src/wire/frames.ts';
import type { ByteSocket } from '../../src/wire/socket.ts';
import { ASK_DIRECT } from '../../src/wire/visit-messages.ts';
import { EmptySocket } from '../support/empty-socket.ts';
import { eventually } from '../support/eventually.ts';

/** A tunnel with visits, and its sessions over sockets without a network. */
function visited() {
  const visits = new Visits();
  let moves = 0;
  /** What became of the streams of its visitors. */
  const streams: unknown[] = [];
  const passedOn = (kind: string) => ({ remoteAddress, remotePort, local }: ByteSocket): void => void streams.push([kind, remoteAddress, remotePort, local]);
  const tunnel: VisitedTunnel = {
    id: 1,
    client: { online: true, crypt: false, compress: false },
    password: '',
    refusal: () => undefined,
    enter: (session) => visits.enter(session),
    leave: (session) => visits.leave(session),
    moved: () => moves++,
    tooMany: () => streams.push('too many'),
    onVisitor: passedOn('visitor'),
    onDirect: passedOn('direct'),
  };
  class Socket extends EmptySocket {
    override readonly remoteAddress = '192.0.2.1';
    override readonly remotePort = 7;
    readonly local = { address: '192.0.2.2', port: 8 };
  }
  const visit = (index: number, fairQueue = new FairQueue<string>(1), secure = false) => {
    const socket = Object.assign(new Socket(), secure && { channelSecret: () => Buffer.from('secret') });
    const session = new VisitorSession({
      id: String(index),
      key: Buffer.alloc(32),
      socket,
      tunnel,
      fairQueue,
      since: 0,
      log: pino({ level: 'silent' }),
      mux: { heartbeatMs: 60_000 },
      onGone: () => undefined,
    });
    return { socket, session };
  };
  return { visits, visit, streams, moves: () => moves };
}

test('a tunnel can have 1,000 visitors, and another one after one disconnects', () => {
  const { visits, visit } = visited();
  const sockets: EmptySocket[] = [];
  for (let index = 0; index < 1000; index++) {
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

test('of the connections that a visitor opens at once, two begin, some wait, and the others are too many; each has the addresses of its session', async () => {
  const { visits, visit, streams } = visited();
  const { socket } = visit(1);
  const receive = (write: (batch: Batch) => void): void => {
    const batch = new Batch();
    write(batch);
    batch.drainTo((bytes) => socket.sink?.onData(Buffer.from(bytes)));
  };
  const addresses = ['192.0.2.1', 7, { address: '192.0.2.2', port: 8 }];
  receive((batch) => {
    for (const id of [2, 4, 6, 8]) batch.frame(Frame.OPEN, id, id === 4 ? ASK_DIRECT : undefined);
  });
  expect(streams.splice(0)).toEqual([['visitor', ...addresses], ['direct', ...addresses], 'too many']);
  const iterations = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  };
  await iterations();
  expect(streams.splice(0)).toEqual([['visitor', ...addresses]]);
  // One that is reset while it waits does not begin.
  receive((batch) => {
    for (const id of [10, 12, 14]) batch.frame(Frame.OPEN, id);
    batch.frame(Frame.RST, 14);
    batch.frame(Frame.OPEN, 16);
  });
  await iterations();
  expect(streams.map((stream) => Array.isArray(stream) ? stream[0] : stream)).toEqual(['visitor', 'visitor', 'too many']);
  visits.closeAll('tunnel-stopped');
});

test('a visitor over TLS is welcome whether its client asks for that or not; one without is sent away if it does', () => {
  const { visits, visit } = visited();
  visit(1);
  visit(2, undefined, true);
  const follow = (crypt: boolean): number => {
    visits.follow({ online: true, crypt, compress: false });
    return visits.states.length;
  };
  expect([follow(false), follow(true)]).toEqual([2, 1]);
  visits.closeAll('tunnel-stopped');
});

test('2,000 sessions of visitors may begin at once, and 20 a second', () => {
  const visits = new Visits();
  const begun = (now: number, times: number) => Array.from({ length: times }, () => visits.mayBegin(now)).filter(Boolean).length;
  expect([begun(0, 2001), begun(1000, 21)]).toEqual([2000, 20]);
});

test('a visitor may have 20,000 connections', () => {
  const { visits, visit, streams } = visited();
  const fairQueue = new FairQueue<string>(1);
  jest.spyOn(fairQueue, 'begin').mockReturnValue(true);
  const { socket } = visit(1, fairQueue);
  const batch = new Batch();
  for (let id = 2; id <= 40_002; id += 2) batch.frame(Frame.OPEN, id);
  batch.drainTo((bytes) => socket.sink?.onData(Buffer.from(bytes)));
  expect(streams.filter((stream) => stream === 'too many')).toHaveLength(1);
  visits.closeAll('tunnel-stopped');
});
