import { afterEach } from '@jest/globals';
import { Frame } from '../../src/wire/frames.ts';
import { Batch } from '../../src/wire/batch.ts';
import { keyIdOf, proveHandshake, type Role } from '../../src/wire/handshake.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import type { ByteSocket } from '../../src/wire/socket.ts';
import { CLIENT } from './tunnel.ts';

const running: ByteSocket[] = [];

afterEach(() => {
  for (const socket of running.splice(0)) socket.destroy(true);
});

/** An agent or visitor of nobody's making: it has proven a key, and says and reads what the test wants. */
export class RawPeer {
  readonly socket: ByteSocket;
  /** What the server said in its welcome. */
  readonly welcome: unknown;
  /** Bytes that it has read. */
  read = 0;
  /** Resolves when the connection is gone. */
  readonly gone: Promise<void>;
  #resolveGone: () => void = () => undefined;

  private constructor(socket: ByteSocket, welcome: unknown) {
    this.socket = socket;
    this.welcome = welcome;
    this.gone = new Promise((resolve) => {
      this.#resolveGone = resolve;
    });
  }

  /** Connects and proves a key. @param reads false = it reads nothing from then on */
  static async connect(
    { bridge }: { readonly bridge: { readonly host: string; readonly port: number } },
    { role = 'mux', key = CLIENT.vkey, info = {}, reads = true }: {
      readonly role?: Exclude<Role, 'data'>;
      readonly key?: string;
      readonly info?: object;
      readonly reads?: boolean;
    } = {},
  ): Promise<RawPeer> {
    const socket = await netBackend.connect({ host: bridge.host, port: bridge.port, timeoutMs: 2000 });
    running.push(socket);
    const { body } = await proveHandshake(socket, { timeoutMs: 5000, role, keyId: keyIdOf(key), key, connection: 0, info });
    const peer = new RawPeer(socket, body);
    socket.attach({
      onData: (chunk) => {
        peer.read += chunk.length;
      },
      onEnd: () => socket.destroy(),
      onDrain: () => undefined,
      onClose: () => peer.#resolveGone(),
    });
    if (!reads) socket.pause();
    return peer;
  }

  /** Sends frames as they are. @returns false = the server does not take them at the moment */
  frames(write: (batch: Batch) => void): boolean {
    const batch = new Batch();
    write(batch);
    let takes = true;
    batch.drainTo((bytes) => {
      takes = this.socket.write(Buffer.from(bytes));
    });
    return takes;
  }

  /** Sends a control message, whatever it is. */
  control(message: unknown): boolean {
    return this.frames((batch) => batch.frame(Frame.CONTROL, 0, Buffer.from(JSON.stringify(message))));
  }
}
