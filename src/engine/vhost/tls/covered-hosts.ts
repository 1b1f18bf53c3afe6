import type { TLSSocket } from 'node:tls';
import { coversHost } from '../../../rules/certificate.ts';

/** Hosts of one connection whose coverage is remembered; beyond it all are asked anew. */
const REMEMBERED = 64;

/**
 * Which hosts a visitor may ask for on one HTTP/2 connection: the one that was named in its handshake, and those that its certificate is for,
 * since browsers send requests for them on it too (RFC 9113, 9.1.1). A request for any other one came here by mistake, or is made to get
 * past what stands in front of that host.
 * @param asked the name in the handshake, as rules/host-name.ts spells it
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
