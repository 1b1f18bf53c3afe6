import { expect, test } from '@jest/globals';
import { Standby } from '../../src/agent/standby.ts';
import { Frame } from '../../src/wire/frames.ts';
import { HandshakeError } from '../../src/wire/handshake-error.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import { eventually } from '../support/eventually.ts';
import { LogRecorder } from '../support/log-recorder.ts';
import { RawPeer } from '../support/raw-peer.ts';
import { CLIENT, startEngine, type TestEngine } from '../support/tunnel.ts';

const standbyOf = ({ engine }: TestEngine) => engine.records.clients.get(CLIENT.id)?.standby;
const placeOf = ({ bridge: { host, port, tls } }: TestEngine) => ({ host, port, tlsPort: tls.port });

/** The address of the agent's own server. */
const OWN = { host: '127.0.0.1', port: 1 };

/** A session in reserve whose agent has a session with a server of the test's making. @param answers what that answers, one doubt after another */
function standbyBeside(answers: boolean[], answersPings = true) {
  const asked: number[] = [];
  const givenUp: string[] = [];
  const log = new LogRecorder();
  const own = {
    answersPings,
    ended: new Promise<never>(() => undefined),
    answers: (ms: number) => {
      asked.push(ms);
      return Promise.resolve(answers[asked.length - 1] ?? true);
    },
    giveUp: (why: string) => givenUp.push(why),
  };
  const standby = new Standby({ sockets: netBackend, tls: undefined, vkey: CLIENT.vkey, log: log.logger, current: () => own, random: () => 0 });
  return { standby, asked, givenUp };
}

test('the own server is left when it does not answer although the one in reserve does, and kept when it answers', async () => {
  const server = await startEngine();
  const { standby, asked, givenUp } = standbyBeside([true, false]);
  standby.use({ servers: [placeOf(server)], here: false }, OWN);
  await eventually(() => standbyOf(server), (session) => session !== undefined);
  for (const times of [1, 2]) {
    // While it asks, another doubt changes nothing.
    await eventually(() => {
      standbyOf(server)?.doubt();
      return asked.length;
    }, (count) => count === times);
  }
  await eventually(() => givenUp, (reasons) => reasons.length > 0);
  expect([asked, givenUp]).toEqual([[500, 500], ['it did not answer within 500 ms']]);
  standby.stop();
  await eventually(() => server.engine.counts.standbys, (count) => count === 0);
});

test('a server of version 0.1 answers no pings: it is not asked', async () => {
  const [old, server] = [standbyBeside([], false), await startEngine()];
  old.standby.use({ servers: [placeOf(server)], here: false }, OWN);
  await eventually(() => standbyOf(server), (session) => session !== undefined);
  standbyOf(server)?.doubt();
  // What ends the session comes behind the doubt.
  await server.engine.apply({ kind: 'client', client: { ...CLIENT, enabled: false } });
  await eventually(() => old.standby.place, (place) => place === undefined);
  expect(old.asked).toEqual([]);
  old.standby.stop();
});

test('it goes to another server when its own is not among the others any more, or is gone', async () => {
  const [first, second] = [await startEngine(), await startEngine()];
  const { standby } = standbyBeside([]);
  standby.use({ servers: [placeOf(first)], here: false }, OWN);
  await eventually(() => standby.place, (place) => place !== undefined);
  standby.use({ servers: [placeOf(second)], here: false }, OWN);
  await eventually(() => [first, second].map(({ engine }) => engine.counts.standbys), ([one, other]) => one === 0 && other === 1);
  standby.use({ servers: [placeOf(first), placeOf(second)], here: false }, OWN);
  await second.engine.close();
  await eventually(() => standby.place, (place) => place === `127.0.0.1:${first.bridge.port}`);
  expect(first.engine.counts.standbys).toBe(1);
  standby.stop();
});

test('a server takes one session in reserve of an agent that may connect, which opens nothing', async () => {
  const server = await startEngine();
  const first = await RawPeer.connect(server, { role: 'standby' });
  await eventually(() => server.engine.counts.standbys, (count) => count === 1);
  const second = await RawPeer.connect(server, { role: 'standby' });
  await first.gone;
  expect(server.engine.counts).toMatchObject({ standbys: 1, sessions: 0 });
  const { read } = second;
  second.control({ type: 'ping' });
  await eventually(() => second.read, (bytes) => bytes > read);
  second.frames((batch) => batch.frame(Frame.OPEN, 2, Buffer.alloc(0)));
  await second.gone;
  // As after any other violation of the protocol.
  await expect(RawPeer.connect(server, { role: 'standby' })).rejects.toThrow('its sessions begin too often');
  await expect(RawPeer.connect(server, { role: 'standby', key: 'another key' })).rejects.toThrow(HandshakeError);
  expect(server.engine.counts.standbys).toBe(0);
});
