import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Frame } from '../../src/wire/frames.ts';
import { endChildren } from '../support/child.ts';
import { sized } from '../support/endurance.ts';
import { LoopHold, watchedLoop } from '../support/loop-hold.ts';
import { startServer, write } from '../support/processes.ts';
import { RawPeer } from '../support/raw-peer.ts';
import { removeScratchDirectories } from '../support/scratch.ts';

/** How long each flood lasts, in ms, and how many floods are measured. The best one counts, since other suites use the CPUs too in `npm test`. */
const lasts = sized(1000, 10_000);
const attempts = sized(3, 1);
/** What the server's main thread may compute between two iterations of its event loop, in ms of its own CPU time. */
const mostHeld = 50;

const host = {
  host: '',
  platformDomainId: '',
  platformPrefix: '',
  location: '',
  scheme: 'all',
  headers: [],
  hostChange: '',
  certificate: '',
  privateKey: '',
  autoHttps: false,
  acme: false,
  remark: '',
};

/** Control messages of an agent whose parsing takes long, or of which many fit into one read. */
const messages: ReadonlyArray<readonly [name: string, text: string]> = [
  ['as many values as a message may have', JSON.stringify({ type: 'host', name: 'a', host: { ...host, targets: Array.from({ length: 5000 }, () => '') } })],
  ['long lists of what is no value', JSON.stringify({ type: 'health', of: 'tunnel', id: 1, targets: Array.from({ length: 20_000 }, () => ({})) })],
  [
    'lists of what is no text',
    JSON.stringify({
      type: 'host',
      name: 'a',
      host: { ...host, targets: Array.from({ length: 5000 }, () => 0), headers: Array.from({ length: 5000 }, () => 0) },
    }),
  ],
  ['tiny messages', '{}'],
];

let bridge: { readonly host: string; readonly port: number };
let hold: LoopHold;

beforeAll(async () => {
  const server = await startServer({ environment: watchedLoop });
  await write(server, '/client/add/', { vkey: 'the key of the attacker', config_conn_allow: 1 });
  bridge = { host: '127.0.0.1', port: server.bridgePort };
  hold = new LoopHold(server);
});
afterAll(async () => {
  await endChildren();
  removeScratchDirectories();
});

test.each(messages)(
  'an agent that floods the server with control messages, is cut off and comes back at once, holds the event loop for 50 ms of CPU at most: %s',
  async (_, text) => {
    const message = Buffer.from(text);
    async function attack(until: number): Promise<void> {
      while (performance.now() < until) {
        const peer = await RawPeer.connect({ bridge }, { key: 'the key of the attacker' }).catch(() => undefined);
        if (!peer) continue;
        const gone = new AbortController();
        void peer.gone.then(() => gone.abort());
        while (!gone.signal.aborted && performance.now() < until) {
          if (peer.socket.pending < 1_000_000) {
            peer.frames((batch) => {
              for (let bytes = 0; bytes < 256 * 1024; bytes += message.length + 9) batch.frame(Frame.CONTROL, 0, message);
            });
          }
          await new Promise((resolve) => {
            setImmediate(resolve);
          });
        }
      }
    }
    let held = Number.POSITIVE_INFINITY;
    for (let left = attempts; left > 0 && held > mostHeld; left--) {
      await hold.most();
      await attack(performance.now() + lasts);
      held = await hold.most();
    }
    expect(held).toBeLessThan(mostHeld);
  },
  60_000,
);
