import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** The answer of a DNS server that knows one IPv4 address for every name. */
export function dnsAnswer(query: Buffer, address: readonly number[] = [192, 0, 2, 7]): Buffer {
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(1, 6);
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address]);
  return Buffer.concat([header, query.subarray(12), record]);
}

/** The answer of a DNS server that knows no such name. */
function noName(query: Buffer): Buffer {
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(0x8183, 2);
  header.writeUInt16BE(0, 10);
  return Buffer.concat([header, questionOf(query)]);
}

/** The name and type of a question, without what follows. */
function questionOf(query: Buffer): Buffer {
  return query.subarray(12, query.indexOf(0, 12) + 5);
}

/** The name that a query asks for. */
function nameOf(query: Buffer): string {
  const labels: string[] = [];
  for (let at = 12; query[at] !== 0 && at < query.length; at += 1 + (query[at] ?? 0)) labels.push(query.toString('latin1', at + 1, at + 1 + (query[at] ?? 0)));
  return labels.join('.');
}

/** A DNS server on a loopback port, which knows the IPv4 addresses of some names. */
export async function startDns(addresses: Readonly<Record<string, string>>) {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (query, { port, address }) => {
    const name = nameOf(query);
    asked.push(name);
    const known = addresses[name];
    const isIpv4 = questionOf(query).at(-3) === 1;
    const plain = Buffer.concat([query.subarray(0, 10), Buffer.alloc(2), questionOf(query)]);
    socket.send(known !== undefined && isIpv4 ? dnsAnswer(plain, known.split('.').map(Number)) : noName(query), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { server: `127.0.0.1:${socket.address().port}`, asked, close: () => socket.close() };
}
