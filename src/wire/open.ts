import * as z from 'zod';

/** The tunnel or host of the request ("tunnel 5"): new requests of different tunnels and hosts start in round-robin order (stream-handlers/fair-queue.ts). */
const by = z.string().max(24).optional();

/** @see OpenRequest */
export const openRequestSchema = z.discriminatedUnion('kind', [
  /** Connect with the first target that answers. */
  z.object({ kind: z.literal('tcp'), by, targets: z.array(z.string().max(300)).min(1).max(5000) }),
  /** Dial a target, close the connection, and answer with a message: why the dial failed, "" = it succeeded. */
  z.object({ kind: z.literal('probe'), target: z.string().max(300), timeoutMs: z.int().min(1).max(60_000) }),
  /** Exchange datagrams (`datagram-socket.ts`) with the first target whose name resolves. */
  z.object({ kind: z.literal('udp'), by, targets: z.array(z.string().max(300)).min(1).max(5000) }),
  /** Exchange datagrams with any address: each begins with its destination or source address (`socks-address.ts`). */
  z.object({ kind: z.literal('udpAny'), by }),
  /**
   * Connect with the first target that answers, with `timeoutMs` for each, and send the result first (wire/dial-result.ts). `credit`: bytes that
   * may be sent before the first credit is returned; absent = a whole window.
   */
  z.object({
    kind: z.literal('dial'),
    by,
    targets: z.array(z.string().max(300)).min(1).max(5000),
    timeoutMs: z.int().min(1).max(3_600_000),
    credit: z.int().min(16 * 1024).max(1024 * 1024).optional(),
  }),
  /**
   * Open a direct path with the visitor at the other end of this stream (direct-messages.ts). Both sides authenticate with the tunnel's password; the
   * visitor's connections on it go to the targets. `stunPorts`: the server's ports for STUN.
   */
  z.object({
    kind: z.literal('direct'),
    tunnelId: z.int(),
    password: z.string().max(1024),
    targets: z.array(z.string().max(300)).min(1).max(5000),
    stunPorts: z.array(z.int().min(1).max(65_535)).max(2),
  }),
  /** Speak HTTP and serve the files below a directory; `stripPrefix` is removed from the beginning of the URL's path. */
  z.object({ kind: z.literal('file'), by, path: z.string().max(4096), stripPrefix: z.string().max(1024) }),
]);

type AnyRequest = z.output<typeof openRequestSchema>;
/** The names of the requests. */
export type OpenKind = AnyRequest['kind'];
/** A request from the server to an agent, for the peer of a stream: the payload of OPEN. Of kind `K`; by default of any kind. */
export type OpenRequest<K extends OpenKind = OpenKind> = { [P in K]: { readonly kind: P } & Extract<AnyRequest, { kind: P }> }[K];

/** The payload of OPEN for a request. */
export function encodeOpen(request: OpenRequest): Buffer {
  return Buffer.from(JSON.stringify(request));
}

/** Parsed requests by payload: all visitors of a tunnel share a few. */
const known = new Map<string, OpenRequest>();
const MAX_KNOWN = 256;
/** Longer payloads are parsed each time instead of cached: the map stays below a megabyte. */
const MAX_KNOWN_BYTES = 1024;

/** Parses the payload of OPEN; undefined = not a request, or one of a newer server. Equal payloads may return the same object. */
export function decodeOpen(payload: Buffer): OpenRequest | undefined {
  if (payload.length > MAX_KNOWN_BYTES) return readOpen(payload);
  const text = payload.toString('latin1');
  const before = known.get(text);
  if (before) return before;
  const request = readOpen(payload);
  if (!request) return undefined;
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(text, request);
  return request;
}

function readOpen(payload: Buffer): OpenRequest | undefined {
  try {
    return openRequestSchema.safeParse(JSON.parse(payload.toString('utf8'))).data;
  } catch {
    return undefined; // not JSON
  }
}
