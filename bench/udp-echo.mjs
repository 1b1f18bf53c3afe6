import { createSocket } from 'node:dgram';
import { isIP } from 'node:net';

// Sends every datagram back to where it came from. Addresses are not resolved, which Node does for each datagram otherwise.
const socket = createSocket({ type: 'udp4', recvBufferSize: 1024 * 1024, lookup: (address, _options, callback) => callback(null, address, isIP(address)) });
socket.on('message', (bytes, { address, port }) => socket.send(bytes, port, address));
socket.bind(0, '127.0.0.1', () => console.log(`listening on ${socket.address().port}`));
