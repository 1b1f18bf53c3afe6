// node slow-crowd.mjs PORT HOST HEADS BODIES READS: keeps so many connections open that take their time with a head, a body, or with
// reading. One that the server ends is made anew. Says each second how many there are.
import net from 'node:net';
import process from 'node:process';

const [port, host, ...counts] = process.argv.slice(2);
const open = [0, 0, 0];

/** What each kind begins with, and what it says every second. */
const kinds = [
  { begin: `GET / HTTP/1.1\r\nHost: ${host}\r\nX: `, more: 'x' },
  { begin: `POST /up HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 1000000\r\n\r\n`, more: 'x' },
  { begin: `GET /zeros/16777216 HTTP/1.1\r\nHost: ${host}\r\n\r\n`, more: '' },
];

function hold(kind) {
  const { begin, more } = kinds[kind];
  let timer;
  const socket = net.connect(Number(port), '127.0.0.1', () => {
    open[kind]++;
    socket.write(begin);
    if (more) timer = setInterval(() => socket.write(more), 1000);
    // Who doesn't read sees no end either: a byte now and then shows one.
    else timer = setInterval(() => socket.read(1), 1000);
  });
  let counted = false;
  socket.once('connect', () => { counted = true; });
  socket.on('error', () => {}); // 'close' follows
  socket.on('close', () => {
    clearInterval(timer);
    if (counted) open[kind]--;
    setTimeout(hold, 10, kind);
  });
  if (more) socket.resume();
}

for (const [kind, count] of counts.entries()) for (let n = 0; n < Number(count); n++) hold(kind);
setInterval(() => console.log(`open ${open.join(' ')}`), 1000);
