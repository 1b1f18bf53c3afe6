import { expect, test } from '@jest/globals';
import pino from 'pino';
import { AgentSession } from '../../src/engine/bridge/agent-session.ts';
import { agentInfoSchema } from '../../src/wire/agent-messages.ts';
import { Batch } from '../../src/wire/batch.ts';
import { Frame } from '../../src/wire/frames.ts';
import { EmptySocket } from '../support/empty-socket.ts';

test.each([[true, true], [false, false]])('an agent that respects credit (%s) is cut off when it sends more: %s', (credit, cut) => {
  const socket = new EmptySocket();
  const session = new AgentSession({
    id: '1',
    key: Buffer.alloc(32),
    socket,
    log: pino({ level: 'silent' }),
    mux: { heartbeatMs: 60_000 },
    clientId: 1,
    info: agentInfoSchema.parse({ credit }),
    onTraffic: () => undefined,
    onHealth: () => undefined,
    overview: () => [],
    records: undefined,
    onLeaving: () => undefined,
    onGone: () => undefined,
  });
  const stream = session.open(Buffer.from('x'), false, 100);
  stream?.join(new EmptySocket());
  const batch = new Batch();
  batch.frame(Frame.DATA, stream?.id ?? 0, Buffer.alloc(101));
  batch.drainTo((bytes) => socket.sink?.onData(Buffer.from(bytes)));
  expect(stream?.over).toBe(cut);
  socket.destroy();
});
