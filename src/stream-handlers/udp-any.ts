import dns from 'node:dns/promises';
import { DatagramSocket } from '../wire/datagram-socket.ts';
import { readSocksAddress, socksAddress } from '../wire/socks-address.ts';
import { UdpSocket } from '../wire/udp-socket.ts';
import { awaited } from './stream-handler.ts';

/** How long a resolved name is cached, in ms. */
const KEEP_MS = 30_000;
/** Maximum cached names; the oldest are dropped first. */
const MAX_NAMES = 256;

/** Maximum datagrams that wait for the resolution of their name; more are dropped. */
const MAX_RESOLVING = 256;

/**
 * Joins the stream with a UDP socket that exchanges datagrams with any address: each datagram begins with the address it goes to or came from, in the
 * form of SOCKS5 (`wire/socks-address.ts`). Names are resolved here.
 */
export const answerUdpAny = awaited<'udpAny'>(async (_request, stream, { datagrams }) => {
  const socket = await UdpSocket.bind({ host: '', port: 0 });
  const names = new NameCache();
  let resolving = 0;
  const local = new DatagramSocket({
    remoteAddress: '',
    remotePort: 0,
    budget: datagrams,
    onDatagram: (bytes) => {
      const to = readSocksAddress(bytes, 0);
      if (!to || to.port === 0) local.drop();
      else if (to.numeric) send(to.host, to.port, bytes.subarray(to.end));
      else if (resolving < MAX_RESOLVING) void sendByName(to.host, to.port, bytes.subarray(to.end));
      else local.drop();
    },
    onClose: () => void socket.close(),
  });
  const send = (address: string, port: number, bytes: Buffer): void => socket.send(bytes, { address: socket.reachable(address), port });
  const sendByName = async (name: string, port: number, bytes: Buffer): Promise<void> => {
    resolving++;
    const address = await names.resolve(name);
    resolving--;
    if (address === undefined) local.drop();
    else send(address, port, bytes);
  };
  socket.serve({
    onDatagram: (bytes, { address, port }) => local.send(Buffer.concat([socksAddress(address, port), bytes])),
    onDropped: () => local.drop(),
  });
  stream.join(local);
});

/** Recently resolved names, and those that are being resolved. */
class NameCache {
  readonly #names = new Map<string, { readonly address: Promise<string | undefined>; readonly until: number }>();

  /** Resolves a name; undefined = no address. Concurrent callers share one lookup. */
  resolve(name: string): Promise<string | undefined> {
    const known = this.#names.get(name);
    const now = performance.now();
    if (known && known.until > now) return known.address;
    // The reason for a failed lookup doesn't matter: the datagram is dropped without an error.
    const address = dns.lookup(name).then((found) => found.address, () => undefined);
    this.#names.delete(name);
    this.#names.set(name, { address, until: now + KEEP_MS });
    const [oldest] = this.#names.keys();
    if (this.#names.size > MAX_NAMES && oldest !== undefined) this.#names.delete(oldest);
    return address;
  }
}
