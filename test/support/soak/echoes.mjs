// What the tunnels and hosts of a soak lead to, in a process of its own, which can be frozen: sends back all bytes, datagrams, bodies and messages that it gets.
import { once } from 'node:events';
import dgram from 'node:dgram';
import http from 'node:http';
import net from 'node:net';
import { WebSocketServer } from 'ws';

const HOST = '127.0.0.1';
const ignore = () => undefined; // visitors that were cut off, or left

const tcp = net.createServer({ allowHalfOpen: true }, (socket) => socket.on('error', ignore).pipe(socket)).listen(0, HOST);
const udp = dgram.createSocket('udp4', (datagram, { port, address }) => udp.send(datagram, port, address)).bind(0, HOST);
const web = http.createServer((request, response) => {
  request.on('error', ignore).pipe(response);
});
// On a busy machine two requests of one connection may be more than Node's 5 s apart; who closes in between makes the second one fail.
web.keepAliveTimeout = 60_000;
new WebSocketServer({ server: web }).on('connection', (socket) => {
  socket.on('error', ignore).on('message', (data, binary) => socket.send(data, { binary }));
});
web.listen(0, HOST);

await Promise.all([tcp, udp, web].map((server) => once(server, 'listening')));
console.log(JSON.stringify({ tcp: tcp.address().port, udp: udp.address().port, http: web.address().port }));
