import { type PairOrigin, socketPair } from '../../wire/socket-pair.ts';
import type { ByteSocket } from '../../wire/socket.ts';
import type { GateContext } from './gate.ts';
import type { HostEntry } from './hosts.ts';

/** A connection to one of a host's targets, used in turn: counted and limited like a tunnel's. undefined = it can't be carried now. */
export function dialHost(entry: HostEntry, visitor: PairOrigin, admit: GateContext['admit']): ByteSocket | undefined {
  const payload = entry.targets.next;
  const carrier = payload && admit(entry.wanted.clientId, visitor.remoteAddress);
  if (!carrier || typeof carrier === 'string') return undefined;
  entry.targets.advance();
  const [near, far] = socketPair(visitor);
  entry.connections.carry(far, carrier.session, carrier.client, payload);
  return near;
}
