import fc from 'fast-check';
import { test } from '@jest/globals';
import { z } from 'zod';
import { HandshakeError } from '../../src/wire/handshake-error.ts';
import { acceptHandshake, keyIdOf, proveHandshake } from '../../src/wire/handshake.ts';
import type { ByteSocket, SocketSink } from '../../src/wire/socket.ts';
import { bytes } from '../support/fuzz/corpus.ts';
import { cutUp, damaged, FUZZ_MS, fuzzAsync, inPieces, noise } from '../support/fuzz/fuzz.ts';

const KEY = 'the key of both';
const TIMEOUT_MS = 20_000;

/** One end of a connection whose other end the test plays. */
class Scripted implements ByteSocket {
  readonly remoteAddress = '';
  readonly remotePort = 0;
  readonly pending = 0;
  #sink: SocketSink | undefined;
  #over = false;
  onWrite: (chunk: Buffer) => void = () => undefined;
  attach(sink: SocketSink): void {
    this.#sink = sink;
    if (this.#over) sink.onClose();
  }
  unread(): void {/* what follows the handshake is not ours */}
  write(chunk: Buffer): boolean {
    this.onWrite(chunk);
    return true;
  }
  pause(): void {/* what is said is said */}
  resume(): void {/* see pause */}
  end(): void {
    this.destroy();
  }
  destroy(): void {
    if (this.#over) return;
    this.#over = true;
    this.#sink?.onClose();
  }
  hear(bytes: Buffer): void {
    if (!this.#over && bytes.length > 0) this.#sink?.onData(bytes);
  }
  hearEnd(): void {
    if (!this.#over) this.#sink?.onEnd();
  }
}

const options = { timeoutMs: TIMEOUT_MS, role: 'mux', keyId: keyIdOf(KEY), key: KEY, connection: 0, info: { version: '1' } } as const;
const keyOf = (): string => KEY;
const turns = async (): Promise<void> => {
  for (let i = 0; i < 12; i++) await Promise.resolve();
};

/** What a side came to; any other error than a refusal in order fails. */
async function ended(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (error instanceof HandshakeError) return false;
    throw error;
  }
}

/** How somebody in between changes what one message after the other says. */
const meddling = fc.array(
  fc.record({
    at: fc.nat(),
    value: fc.option(fc.oneof(fc.nat({ max: 255 }), fc.constant('cut' as const)), { freq: 3 }),
    cuts: fc.array(fc.nat(), { maxLength: 3 }),
  }),
  { minLength: 5, maxLength: 5 },
);

test('if a man in the middle changes a byte, the handshake fails; splitting changes nothing', async () => {
  await fuzzAsync(
    {
      name: 'a man in the middle',
      input: meddling,
      format: z.array(z.object({ at: z.number(), value: z.union([z.number(), z.literal('cut')]).nullable(), cuts: z.array(z.number()) })),
    },
    async (plan) => {
      const [agent, server] = [new Scripted(), new Scripted()];
      let changed = false;
      let message = 0;
      const through = (to: Scripted) => (chunk: Buffer): void => {
        const { value, at, cuts } = plan[message++ % plan.length] ?? { value: null, at: 0, cuts: [] };
        const said = value === 'cut' ? chunk.subarray(0, at % chunk.length) : Buffer.from(chunk);
        if (typeof value === 'number') said[at % chunk.length] = value;
        changed ||= !said.equals(chunk);
        queueMicrotask(() => {
          for (const piece of cutUp(said, cuts)) to.hear(piece);
        });
      };
      agent.onWrite = through(server);
      server.onWrite = through(agent);
      const accepted = ended(
        acceptHandshake(server, { timeoutMs: TIMEOUT_MS, keyOf }).then((offer) => {
          if (!offer.proven) {
            offer.refuse({ code: 'no', text: 'no' });
            throw new HandshakeError('refused', 'no');
          }
          offer.accept({ sessionId: 'x' });
        }),
      );
      const proven = ended(proveHandshake(agent, options));
      for (let i = 0; i < 8; i++) await turns();
      // Nobody says anything more.
      agent.hearEnd();
      server.hearEnd();
      const [in1, in2] = await Promise.all([accepted, proven]);
      if (!changed && !(in1 && in2)) throw new Error('nobody changed anything, and they did not agree');
      if (changed && in2) throw new Error("the agent took a changed conversation for the server's");
    },
  );
}, FUZZ_MS);

const start = Buffer.concat([Buffer.from('ADIT\x01', 'latin1')]);
const hello = Buffer.concat([start, Buffer.of(0), Buffer.from(keyIdOf(KEY), 'hex'), Buffer.alloc(32, 7), Buffer.alloc(4)]);
const proof = (json: string, length = json.length): Buffer => Buffer.concat([Buffer.alloc(32, 1), Buffer.of(length >> 8, length & 255), Buffer.from(json)]);
const said = fc.oneof(
  noise,
  fc.constant(start),
  fc.constant(hello),
  fc.constant(Buffer.concat([hello, proof('{}')])),
  fc.constant(Buffer.concat([hello, proof('{"version":', 4097)])),
  fc.constant(Buffer.concat([hello, Buffer.alloc(20_000)])),
);

test('no bytes without the key authenticate to the server', async () => {
  await fuzzAsync({ name: 'a client without the key', input: inPieces(damaged(said)), format: z.array(bytes) }, async (pieces) => {
    const socket = new Scripted();
    const offered = ended(
      acceptHandshake(socket, { timeoutMs: TIMEOUT_MS, keyOf }).then(({ proven }) => {
        if (proven) throw new Error('an attacker was authenticated');
      }),
    );
    for (const piece of pieces) {
      socket.hear(piece);
      await turns();
    }
    socket.hearEnd();
    await offered;
  });
}, FUZZ_MS);

const challenge = Buffer.concat([start, Buffer.alloc(32, 9)]);
const answers = fc.oneof(
  noise,
  ...[
    Buffer.alloc(0),
    Buffer.concat([Buffer.of(0), Buffer.of(0, 2), Buffer.from('{}')]),
    Buffer.concat([Buffer.of(0, 0, 28), Buffer.from('{"code":"x","text":"y","a":1}').subarray(0, 28)]),
    Buffer.concat([Buffer.of(1), proof('{}')]),
    Buffer.concat([Buffer.of(2), proof('{"code":"x","text":"y"}')]),
    Buffer.concat([Buffer.of(3), proof('{}')]),
  ].map((answer) => fc.constant(answer)),
);

test('no bytes from a server without the key authenticate to the agent', async () => {
  const input = inPieces(damaged(answers.map((answer) => Buffer.concat([challenge, answer]))));
  await fuzzAsync({ name: 'a server without the key', input, format: z.array(bytes) }, async (pieces) => {
    const socket = new Scripted();
    const proven = ended(proveHandshake(socket, options));
    for (const piece of pieces) {
      socket.hear(piece);
      await turns();
    }
    socket.hearEnd();
    if (await proven) throw new Error('an attacker was taken for the server');
  });
}, FUZZ_MS);
