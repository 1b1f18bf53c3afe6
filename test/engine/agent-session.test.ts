import { expect, jest, test } from '@jest/globals';
import { AnswerWatch } from '../../src/engine/bridge/answer-watch.ts';
import { type Reason, reasons } from '../../src/engine/bridge/reasons.ts';
import { agentInfoSchema } from '../../src/wire/agent-messages.ts';
import { Batch } from '../../src/wire/batch.ts';
import { Frame, FrameReader, type FrameType } from '../../src/wire/frames.ts';
import { startSession } from '../support/agent-session.ts';
import { EmptySocket } from '../support/empty-socket.ts';
import { eventually } from '../support/eventually.ts';

function receive(socket: EmptySocket, type: FrameType, stream: number, payload: Buffer): void {
  const batch = new Batch();
  batch.frame(type, stream, payload);
  batch.drainTo((bytes) => socket.sink?.onData(Buffer.from(bytes)));
}

test.each([[true, true], [false, false]])('an agent that respects credit (%s) is cut off when it sends more: %s', (credit, cut) => {
  const socket = new EmptySocket();
  const session = startSession(socket, { info: agentInfoSchema.parse({ credit }) });
  const stream = session.open(Buffer.from('x'), false, 100);
  stream?.join(new EmptySocket());
  receive(socket, Frame.DATA, stream?.id ?? 0, Buffer.alloc(101));
  expect(stream?.over).toBe(cut);
  socket.destroy();
});

test('an agent that has declared a tunnel reports on no host with the same id, and no longer on the tunnel when it has withdrawn it', async () => {
  const socket = new EmptySocket();
  const outcome = { id: 5, port: 0, error: '' };
  const declared: string[] = [];
  const reported: string[] = [];
  const declare = async ({ name }: { readonly name: string }) => {
    declared.push(name);
    return outcome;
  };
  const problems = ['it is in use', ''];
  const withdraw = async () => {
    declared.pop();
    return { id: 0, port: 0, error: problems.shift() ?? '' };
  };
  startSession(socket, {
    records: { declare, withdraw, close: () => undefined },
    onHealth: ({ of, id }) => reported.push(`${of} ${id}`),
  });
  const say = (message: object): void => receive(socket, Frame.CONTROL, 0, Buffer.from(JSON.stringify(message)));
  const tunnel = { mode: 'tcp', port: 0, serverIp: '', targets: ['1'], password: '', localPath: '', stripPrefix: '', proxyProtocol: '', remark: '' };
  say({ type: 'tunnel', name: 'web', tunnel });
  await eventually(() => declared.length, (count) => count > 0);
  for (const kind of ['host', 'tunnel']) say({ type: 'health', of: kind, id: 5, targets: [] });
  await eventually(() => reported.length, (count) => count > 0);
  expect(reported).toEqual(['tunnel 5']);
  for (const left of [['tunnel 5'], []]) {
    reported.length = 0;
    declared.push('web');
    say({ type: 'withdraw', kind: 'tunnel', name: 'web' });
    await eventually(() => problems.length, (count) => count === left.length);
    await new Promise(setImmediate);
    say({ type: 'health', of: 'tunnel', id: 5, targets: [] });
    expect(reported).toEqual(left);
  }
  socket.destroy();
});

test('an agent may declare as much as it likes, one after another', async () => {
  const socket = new EmptySocket();
  let answered = 0;
  const withdraw = async () => {
    answered++;
    return { id: 0, port: 0, error: '' };
  };
  startSession(socket, { records: { declare: withdraw, withdraw, close: () => undefined } });
  for (let count = 1; count <= 100; count++) {
    receive(socket, Frame.CONTROL, 0, Buffer.from(JSON.stringify({ type: 'withdraw', kind: 'tunnel', name: `web ${count}` })));
    await new Promise(setImmediate);
  }
  expect([answered, socket.destroyed]).toEqual([100, false]);
  socket.destroy();
});

test('a session has 20,000 streams, and no new ones when its agent ends, which is reported once', () => {
  const socket = new EmptySocket();
  let reported = 0;
  const session = startSession(socket, { onLeaving: () => reported++ });
  const payload = Buffer.from('x');
  const streams = Array.from({ length: 20_001 }, () => session.open(payload));
  expect(streams.filter((stream) => stream !== undefined)).toHaveLength(20_000);
  streams[0]?.reset();
  expect([session.open(payload), session.open(payload)]).toEqual([expect.anything(), undefined]);
  streams[1]?.reset();
  for (let times = 0; times < 2; times++) receive(socket, Frame.CONTROL, 0, Buffer.from('{"type":"drain"}'));
  expect([reported, session.leaving, session.open(payload)]).toEqual([1, true, undefined]);
  socket.destroy();
});

test('that compression is switched is said once', () => {
  const socket = new EmptySocket();
  const session = startSession(socket, {});
  const said: unknown[] = [];
  for (const on of [false, true, true, false]) session.compress(on);
  session.close('shutdown');
  new FrameReader({ onDataFrame: () => undefined, onFrame: (type, _, payload) => type === Frame.CONTROL && said.push(JSON.parse(payload.toString())) })
    .push(Buffer.from(socket.received, 'hex'));
  expect(said).toMatchObject([{ type: 'compress', on: true }, { type: 'compress', on: false }, { type: 'bye' }]);
});

test('a session that is over neither answers late what it was asked, nor doubts its agent', () => {
  jest.useFakeTimers();
  try {
    const socket = new EmptySocket();
    const late: string[] = [];
    const session = startSession(socket, {
      info: agentInfoSchema.parse({ answersPings: true }),
      onDoubt: () => late.push('doubt'),
      overview: () => {
        late.push('overview');
        return [];
      },
    });
    for (let times = 0; times < 2; times++) {
      receive(socket, Frame.CONTROL, 0, Buffer.from('{"type":"overview"}'));
      jest.advanceTimersByTime(1);
    }
    session.open(Buffer.from('x'));
    socket.destroy();
    jest.advanceTimersByTime(60_000);
    expect(late).toEqual(['overview']);
  } finally {
    jest.useRealTimers();
  }
});

function isReason(code: string): code is Reason {
  return code in reasons;
}

test('a session that the server ends says why to its agent, and shows it in the terms of the API', () => {
  const shown: Partial<Record<Reason, string>> = {
    replaced: 'replaced',
    disabled: 'disabled',
    expired: 'expired',
    'key-changed': 'keyChanged',
    'transport-changed': 'transportChanged',
    'config-refused': 'configRefused',
    'too-much-declared': 'tooMuchDeclared',
    shutdown: 'serverStopped',
  };
  for (const reason of Object.keys(reasons).filter(isReason)) {
    const socket = new EmptySocket();
    const gone: unknown[] = [];
    const session = startSession(socket, { onGone: (_, atFault) => gone.push([session.end, session.endText, atFault]) });
    session.close(reason);
    const said: unknown[] = [];
    new FrameReader({ onDataFrame: () => undefined, onFrame: (type, _, payload) => type === Frame.CONTROL && said.push(JSON.parse(payload.toString())) })
      .push(Buffer.from(socket.received, 'hex'));
    expect(said).toEqual([{ type: 'bye', code: reason, text: reasons[reason] }]);
    expect(gone).toEqual([[shown[reason] ?? 'lost', reasons[reason], false]]);
    socket.destroy();
  }
});

test.each([[true, true, ['ping', 'doubt']], [false, true, []], [true, false, []]])(
  'an agent (that answers pings: %s) of which nothing comes after a stream was opened is asked, and in doubt (if others want to know: %s)',
  (answersPings, wanted, expected) => {
    jest.useFakeTimers();
    try {
      const socket = new EmptySocket();
      const seen: string[] = [];
      const session = startSession(socket, { info: agentInfoSchema.parse({ answersPings }), onDoubt: wanted ? () => seen.push('doubt') : undefined });
      session.open(Buffer.from('x'))?.join(new EmptySocket());
      const sent = new FrameReader({ onDataFrame: () => undefined, onFrame: (type) => type === Frame.CONTROL && seen.push('ping') });
      for (const ms of [499, 10, 480, 30]) {
        jest.advanceTimersByTime(ms);
        sent.push(Buffer.from(socket.received, 'hex'));
        socket.received = '';
        if (ms > 400) expect(seen).toEqual(expected.slice(0, ms === 499 ? 0 : 1));
      }
      expect(seen).toEqual(expected);
      // Not again for five seconds.
      for (const ms of [100, 4800, 200, 600]) {
        session.open(Buffer.from('x'));
        jest.advanceTimersByTime(ms);
        sent.push(Buffer.from(socket.received, 'hex'));
        socket.received = '';
      }
      expect(seen).toEqual([...expected, ...expected.slice(0, 1)]);
      socket.destroy();
    } finally {
      jest.useRealTimers();
    }
  },
);

test.each<[what: string, silence: number, ends: boolean, expected: string[]]>([
  ['is asked if nothing has come of it', 1200, false, ['ping']],
  ['is not asked if it has sent something while this process was late', 800, false, []],
  ['is not asked if its session ends just then', 1200, true, []],
])('an agent whose answer is due %s', async (_, silence, ends, expected) => {
  jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  try {
    const said: string[] = [];
    const watch = new AnswerWatch({ silence, sendControl: () => said.push('ping') }, () => said.push('doubt'));
    watch.asked();
    // The timer is due after 500 ms. What has arrived is read after it.
    jest.advanceTimersByTime(1200);
    if (ends) watch.stop();
    await new Promise(setImmediate);
    expect(said).toEqual(expected);
    watch.stop();
  } finally {
    jest.useRealTimers();
  }
});
