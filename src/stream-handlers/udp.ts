import { lookup } from 'node:dns/promises';
import { formatTarget, parseTarget } from '../rules/targets.ts';
import { DatagramSocket } from '../wire/datagram-socket.ts';
import { messageOf } from '../wire/system-error.ts';
import { UdpSocket } from '../wire/udp-socket.ts';
import { NoTargetError } from './dial-target.ts';
import { awaited } from './stream-handler.ts';

/** Joins the stream, which carries datagrams, with a UDP socket that speaks with one target. */
export const answerUdp = awaited<'udp'>(async ({ targets }, stream, { datagrams }) => {
  const { socket, address, port } = await connectUdp(targets);
  const local = new DatagramSocket({
    remoteAddress: address, remotePort: port, budget: datagrams,
    onDatagram: (bytes) => socket.send(bytes),
    onClose: () => void socket.close(),
  });
  socket.serve({
    onDatagram: (bytes) => local.send(bytes),
    onDropped: () => local.drop(),
    // Nobody listens there: the visitor's next datagram begins a session with the next target. Of a single one we wait for it.
    onError: () => {
      if (targets.length > 1) local.destroy();
    },
  });
  // Not held: a session ends only when nobody uses it any more, and an agent that is to stop does not wait for that.
  stream.join(local);
});

/** A UDP socket that speaks with a target. */
interface UdpConnection {
  readonly socket: UdpSocket;
  readonly address: string;
  readonly port: number;
}

/**
 * Makes a UDP socket for the first of `targets` whose name is known; whether anybody listens there nobody can know.
 * @throws {NoTargetError}
 */
async function connectUdp(targets: readonly string[]): Promise<UdpConnection> {
  const problems: string[] = [];
  for (const text of targets) {
    const target = parseTarget(text);
    if (!target) {
      problems.push(`${JSON.stringify(text)} is no target`);
      continue;
    }
    try {
      const { address } = await lookup(target.host);
      return { socket: await UdpSocket.connect({ address, port: target.port }), address, port: target.port };
    } catch (error) {
      problems.push(`${formatTarget(target)}: ${messageOf(error)}`);
    }
  }
  throw new NoTargetError(problems.join('; '));
}
