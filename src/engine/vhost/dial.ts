import { type PairOrigin, socketPair } from '../../wire/socket-pair.ts';
import type { ByteSocket } from '../../wire/socket.ts';
import { DATA_FOLLOWS } from '../tunnels/connections.ts';
import type { VisitorTrace } from '../limits/visitor-trace.ts';
import type { TargetTurns } from '../tunnels/target-turns.ts';
import type { GateContext } from './gate.ts';
import type { HostEntry } from './hosts.ts';

/**
 * A connection to one of a host's targets, used in turn: counted and limited like a tunnel's. undefined = it can't be carried now.
 * @param targets `targets` of the entry: the first byte that comes is the result of the dial; or `secureTargets`: none is said
 */
export function dialHost(entry: HostEntry, targets: TargetTurns, visitor: PairOrigin, admit: GateContext['admit'], trace: VisitorTrace | undefined): ByteSocket | undefined {
  const payload = targets.next;
  const carrier = payload && admit(entry.wanted, visitor.remoteAddress);
  if (!carrier || typeof carrier === 'string') return undefined;
  targets.advance();
  const [near, far] = socketPair(visitor);
  trace?.same(visitor, near, far);
  entry.connections.carry(far, carrier.session, carrier.client, payload, DATA_FOLLOWS);
  return near;
}
