import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import {
  Command,
  INETProtocol,
  IPv4Address,
  IPv4ProxyAddress,
  IPv6Address,
  IPv6ProxyAddress,
  Peer,
  TransportProtocol,
  V1ProxyProtocol,
  V2ProxyProtocol,
} from 'proxy-protocol-js';
import type { ByteSocket } from '../../wire/socket.ts';

/**
 * The PROXY protocol header that tells a target the visitor's address, and the address and port of the server; empty = the visitor has already
 * disconnected, and its address is no longer known.
 */
export function proxyHeader(version: 'V1' | 'V2', socket: ByteSocket): Buffer {
  const { remotePort, local } = socket;
  const [from, to] = [withoutZone(socket.remoteAddress), withoutZone(local?.address ?? '')];
  if (from === '' || to === '' || !local) return Buffer.alloc(0);
  if (version === 'V1') {
    const family = isIPv4(from) ? INETProtocol.TCP4 : INETProtocol.TCP6;
    return Buffer.from(new V1ProxyProtocol(family, new Peer(from, remotePort), new Peer(to, local.port)).build());
  }
  const [source, destination] = [ipaddr.parse(from).toByteArray(), ipaddr.parse(to).toByteArray()];
  const addresses = isIPv4(from)
    ? new IPv4ProxyAddress(IPv4Address.createFrom(source), remotePort, IPv4Address.createFrom(destination), local.port)
    : new IPv6ProxyAddress(IPv6Address.createFrom(source), remotePort, IPv6Address.createFrom(destination), local.port);
  return Buffer.from(new V2ProxyProtocol(Command.PROXY, TransportProtocol.STREAM, addresses).build());
}

/** The zone of a link-local address (%eth0) means something on this machine only. */
function withoutZone(address: string): string {
  return address.replace(/%.*$/, '');
}
