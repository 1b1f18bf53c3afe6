import type { TLSSocket } from 'node:tls';
import { coversHost } from '../../../rules/certificate.ts';

/** Maximum hosts of one connection whose coverage is cached; beyond that, each request checks again. */
const REMEMBERED = 64;

/**
 * The hosts that a visitor may request on one HTTP/2 connection: the host named in its handshake, and those that the certificate covers,
 * since browsers also send requests for them (RFC 9113, 9.1.1). A request for another host was sent by mistake, or tries to bypass
 * the protection of that host.
 * @param asked the name in the handshake, in the spelling of rules/host-name.ts
 */
export function coveredHosts(asked: string, socket: TLSSocket): (host: string) => boolean {
  const known = new Map<string, boolean>();
  return (host) => {
    if (host === asked) return true;
    const before = known.get(host);
    if (before !== undefined) return before;
    const shown = socket.getX509Certificate();
    const covered = shown !== undefined && coversHost(shown, host);
    if (known.size >= REMEMBERED) known.clear();
    known.set(host, covered);
    return covered;
  };
}
