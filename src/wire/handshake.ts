/**
 * Challenge and response before the first frame. The key itself is never sent: both sides authenticate with an HMAC over all messages
 * so far, and derive the session's key. Later data connections authenticate with that key.
 *
 *   agent -> HELLO      "ADIT" version role key-id[16] nonce[32] connection-number u32
 *         <- CHALLENGE  "ADIT" version nonce[32]
 *         -> PROOF      hmac[32] length u16 info (JSON)
 *         <- VERDICT    1 hmac[32] length u16 body (JSON)   or
 *                       0 length u16 refusal (JSON), if not authenticated    or   2 hmac[32] length u16 refusal (JSON)
 *
 * Over TLS the HMACs also cover a secret of the connection, so a man in the middle with a certificate of its own cannot relay them.
 */
import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { HandshakeReader } from './handshake-reader.ts';
import { HandshakeError, refusalSchema, type Refusal } from './handshake-error.ts';
import { closeSoon } from './delayed-close.ts';
import type { ByteSocket } from './socket.ts';

/** Version of the wire protocol; both sides must speak the same. */
const PROTOCOL_VERSION = 1;

const MAGIC = Buffer.from('ADIT');
/** The first bytes that NPS-family agents send. */
const NPC_MAGIC = Buffer.from('TST');
const NONCE_BYTES = 32;
const KEY_ID_BYTES = 16;
/** Hashed before a key. */
const KEY_ID_OF = 'adit key id\0';
const MAC_BYTES = 32;
const MAX_JSON = 4096;
const HELLO_BYTES = MAGIC.length + 2 + KEY_ID_BYTES + NONCE_BYTES + 4;
const CHALLENGE_BYTES = MAGIC.length + 1 + NONCE_BYTES;
const VERDICT = { refused: 0, accepted: 1, provenRefusal: 2 } as const;
const ROLES = ['mux', 'data', 'visit', 'node', 'standby'] as const;

/**
 * The purpose of a connection: the mux of an agent's or a visitor's session, a data connection of such a session, the session of another server, or that of an agent which is
 * connected to another server and carries nothing (standby-messages.ts).
 */
export type Role = (typeof ROLES)[number];

/** The id by which the server finds a vkey or a tunnel's password without revealing anything else about it. 32 hex digits. */
export function keyIdOf(key: string): string {
  return hash('sha256', KEY_ID_OF + key, 'hex').slice(0, 2 * KEY_ID_BYTES);
}

/** The first bytes of {@link keyIdOf}, a letter each (latin1). @param count at most 16 */
export function keyIdLettersOf(key: string, count: number): string {
  return hash('sha256', KEY_ID_OF + key, 'binary').slice(0, count);
}

/** A new name for a session, as long as a key id. */
export function newSessionId(): string {
  return randomBytes(KEY_ID_BYTES).toString('hex');
}

type Mac = (key: string | Buffer, purpose: 'agent' | 'server' | 'refusal' | 'session', ...parts: Buffer[]) => Buffer;

/** HMACs over what both sides of this connection know. @throws {HandshakeError} */
function macOver(socket: ByteSocket, hello: Buffer, challenge: Buffer): Mac {
  const channel = socket.channelSecret?.();
  if (socket.channelSecret && !channel) throw new HandshakeError('closed', 'the connection was lost during the handshake');
  return (key, purpose, ...parts) => {
    const hmac = createHmac('sha256', key).update(purpose).update(hello).update(challenge);
    if (channel) hmac.update(channel);
    for (const part of parts) hmac.update(part);
    return hmac.digest();
  };
}

function withLength(body: object): Buffer {
  const json = Buffer.from(JSON.stringify(body));
  if (json.length > MAX_JSON) throw new HandshakeError('garbage', `a handshake message may have at most ${MAX_JSON} bytes`);
  const out = Buffer.alloc(2 + json.length);
  out.writeUInt16BE(json.length);
  out.set(json, 2);
  return out;
}

async function readJson(reader: HandshakeReader): Promise<{ raw: Buffer; value: unknown }> {
  const head = await reader.read(2);
  const length = head.readUInt16BE();
  if (length > MAX_JSON) throw new HandshakeError('garbage', `a handshake message of ${length} bytes`);
  const body = await reader.read(length);
  try {
    return { raw: Buffer.concat([head, body]), value: JSON.parse(body.toString()) };
  } catch (error) {
    throw new HandshakeError('garbage', 'a handshake message that is no JSON', { cause: error });
  }
}

async function readMagic(reader: HandshakeReader): Promise<Buffer> {
  const magic = await reader.readOneOf([MAGIC, NPC_MAGIC]);
  if (magic.equals(NPC_MAGIC)) throw new HandshakeError('npc', 'the peer speaks the protocol of the NPS family');
  const version = await reader.read(1);
  if (version[0] !== PROTOCOL_VERSION) {
    throw new HandshakeError('version', `the peer speaks version ${version[0]} of the protocol, this one version ${PROTOCOL_VERSION}`);
  }
  return Buffer.concat([magic, version]);
}

/** What the server knows about a connection before it decides. */
export interface Offer {
  readonly role: Role;
  /** Key id of the client (mux, standby), the tunnel (visit) or the installation (node), or id of the session (data). */
  readonly keyId: string;
  /** The peer has authenticated with the key that belongs to keyId. */
  readonly proven: boolean;
  /** The information that the agent sent; not yet validated. */
  readonly info: unknown;
  /** Number of a data connection, given by the agent; 0 for a mux. */
  readonly connection: number;
  /** Accepts the agent. @returns the session's key. Hand the socket over by attaching to it. */
  accept(body: object): Buffer;
  /** Sends the reason to the agent and closes. An agent that has authenticated can trust the reason. */
  refuse(refusal: Refusal): void;
}

/** How the server checks a new connection. */
export interface AcceptOptions {
  readonly timeoutMs: number;
  /** Called when everything was read; the handshake is checked when the promise resolves. The timeout does not apply meanwhile. */
  readonly queued?: (role: Role, keyId: string) => Promise<void>;
  /** The vkey (mux, standby), the tunnel's password (visit), the installation's secret (node) or the session key (data); undefined = unknown. */
  readonly keyOf: (role: Role, keyId: string) => string | Buffer | undefined;
}

/**
 * The server's side, up to the proof.
 * @throws {HandshakeError} garbage, wrong version, silence or a lost connection; the socket is closed then
 */
export async function acceptHandshake(socket: ByteSocket, { timeoutMs, queued, keyOf }: AcceptOptions): Promise<Offer> {
  const reader = new HandshakeReader(socket, timeoutMs);
  try {
    const start = await readMagic(reader).catch((error: unknown) => {
      // An agent of another version learns ours from the answer.
      if (error instanceof HandshakeError && error.code === 'version') socket.write(challengeWith(randomBytes(NONCE_BYTES)));
      throw error;
    });
    const hello = Buffer.concat([start, await reader.read(HELLO_BYTES - start.length)]);
    const role = ROLES[hello[MAGIC.length + 1] ?? 255];
    if (!role) throw new HandshakeError('garbage', 'an unknown role');
    const keyAt = MAGIC.length + 2;
    const keyId = hello.subarray(keyAt, keyAt + KEY_ID_BYTES).toString('hex');
    const challenge = challengeWith(randomBytes(NONCE_BYTES));
    socket.write(challenge);
    const proof = await reader.read(MAC_BYTES);
    const { raw, value: info } = await readJson(reader);
    reader.finish();
    await queued?.(role, keyId);
    // An unknown key id costs the same time as a wrong proof.
    const key = keyOf(role, keyId);
    const mac = macOver(socket, hello, challenge);
    const expected = mac(key ?? randomBytes(32), 'agent', raw);
    const proven = timingSafeEqual(proof, expected) && key !== undefined;
    return {
      role,
      keyId,
      proven,
      info,
      connection: hello.readUInt32BE(HELLO_BYTES - 4),
      accept(body) {
        if (!proven) throw new Error('an unauthenticated connection cannot be accepted');
        const json = withLength(body);
        socket.write(Buffer.concat([Buffer.of(VERDICT.accepted), mac(key, 'server', json), json]));
        return mac(key, 'session');
      },
      refuse(refusal) {
        const json = withLength(refusal);
        socket.write(
          proven ? Buffer.concat([Buffer.of(VERDICT.provenRefusal), mac(key, 'refusal', json), json]) : Buffer.concat([Buffer.of(VERDICT.refused), json]),
        );
        closeSoon(socket);
      },
    };
  } catch (error) {
    reader.fail();
    throw error;
  }
}

/**
 * Refuses a connection without reading anything from it, which is cheap enough for floods. A peer of any version
 * takes it for the answer to its proof.
 * @param onClosed called once, when the connection is closed
 */
export function refuseUnread(socket: ByteSocket, refusal: Refusal, onClosed: () => void): void {
  socket.write(Buffer.concat([challengeWith(randomBytes(NONCE_BYTES)), Buffer.of(VERDICT.refused), withLength(refusal)]));
  closeSoon(socket, onClosed);
}

function challengeWith(nonce: Buffer): Buffer {
  return Buffer.concat([MAGIC, Buffer.of(PROTOCOL_VERSION), nonce]);
}

/** The agent's input to a handshake. */
export interface ProveOptions {
  readonly timeoutMs: number;
  readonly role: Role;
  readonly keyId: string;
  readonly key: string | Buffer;
  readonly connection: number;
  readonly info: object;
}

/** The server accepted the connection. */
export interface Proven {
  /** The body of the server's verdict; not yet validated. */
  readonly body: unknown;
  readonly sessionKey: Buffer;
}

/**
 * The agent's side. Hand the socket over by attaching to it.
 * @throws {HandshakeError} `refused` with the server's refusal; `impostor` when the server does not know the key; garbage,
 * version, silence, lost connection. The socket is closed then.
 */
export async function proveHandshake(socket: ByteSocket, options: ProveOptions): Promise<Proven> {
  const reader = new HandshakeReader(socket, options.timeoutMs);
  try {
    const hello = Buffer.alloc(HELLO_BYTES);
    hello.set(MAGIC);
    hello[MAGIC.length] = PROTOCOL_VERSION;
    hello[MAGIC.length + 1] = ROLES.indexOf(options.role);
    hello.set(Buffer.from(options.keyId, 'hex'), MAGIC.length + 2);
    hello.set(randomBytes(NONCE_BYTES), MAGIC.length + 2 + KEY_ID_BYTES);
    hello.writeUInt32BE(options.connection, HELLO_BYTES - 4);
    socket.write(hello);
    const start = await readMagic(reader);
    const challenge = Buffer.concat([start, await reader.read(CHALLENGE_BYTES - start.length)]);
    const info = withLength(options.info);
    const mac = macOver(socket, hello, challenge);
    socket.write(Buffer.concat([mac(options.key, 'agent', info), info]));
    const [verdict] = await reader.read(1);
    const proof = verdict === VERDICT.refused ? undefined : await reader.read(MAC_BYTES);
    const { raw, value: body } = await readJson(reader);
    const purpose = verdict === VERDICT.accepted ? 'server' : 'refusal';
    if (proof && !timingSafeEqual(proof, mac(options.key, purpose, raw))) throw new HandshakeError('impostor', 'the server does not know this key');
    if (verdict !== VERDICT.accepted) throw refusedWith(body, proof !== undefined);
    reader.finish();
    return { body, sessionKey: mac(options.key, 'session') };
  } catch (error) {
    reader.fail();
    throw error;
  }
}

function refusedWith(body: unknown, proven: boolean): HandshakeError {
  const { data } = refusalSchema.safeParse(body);
  if (!data) return new HandshakeError('garbage', 'a refusal that says nothing');
  // A refusal that is not authenticated cannot redirect an agent.
  return new HandshakeError('refused', data.text, { refusal: proven ? data : { ...data, tls: undefined } });
}
