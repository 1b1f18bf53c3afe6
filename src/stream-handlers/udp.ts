import { lookup } from 'node:dns/promises';
import { parseTarget } from '../rules/targets.ts';
import { DatagramSocket } from '../wire/datagram-socket.ts';
import { messageOf } from '../wire/system-error.ts';
import { UdpSocket } from '../wire/udp-socket.ts';
import { NoTargetError } from './dial-target.ts';
import { awaited } from './stream-handler.ts';
import { formatHostPort } from '../rules/host-port.ts';

/** Joins the stream, which carries datagrams, with a UDP socket connected to one target. */
export const answerUdp = awaited<'udp'>(async ({ targets }, stream, { datagrams }) => {
  const { socket, address, port } = await connectUdp(targets);
  const local = new DatagramSocket({
    remoteAddress: address,
    remotePort: port,
    budget: datagrams,
    onDatagram: (bytes) => socket.send(bytes),
    onClose: () => void socket.close(),
  });
  socket.serve({
    onDatagram: (bytes) => local.send(bytes),
    onDropped: () => local.drop(),
    // Nothing listens there: the visitor's next datagram begins a session with the next target. If there is only one target, we wait for it.
    onError: () => {
      if (targets.length > 1) local.destroy();
    },
  });
  // Doesn't delay the session's close: a UDP session only ends when it is idle, and a stopping agent doesn't wait for that.
  stream.join(local);
});

/** A UDP socket that is connected to a target. */
interface UdpConnection {
  readonly socket: UdpSocket;
  readonly address: string;
  readonly port: number;
}

/**
 * Creates a UDP socket for the first of `targets` whose name resolves; UDP can't tell whether anything listens there.
 * @throws {NoTargetError}
 */
async function connectUdp(targets: readonly string[]): Promise<UdpConnection> {
  const problems: string[] = [];
  for (const text of targets) {
    const target = parseTarget(text);
    if (!target) {
      problems.push(`${JSON.stringify(text)} is not a target`);
      continue;
    }
    try {
      const { address } = await lookup(target.host);
      return { socket: await UdpSocket.connect({ address, port: target.port }), address, port: target.port };
    } catch (error) {
      problems.push(`${formatHostPort(target)}: ${messageOf(error)}`);
    }
  }
  throw new NoTargetError(problems.join('; '));
}
