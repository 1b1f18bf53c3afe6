import { DatagramSocket } from '../wire/datagram-socket.ts';
import { connectUdp } from './connect-udp.ts';
import { awaited } from './request-handler.ts';

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
