import { type PairOrigin, socketPair } from '../../wire/socket-pair.ts';
import type { ByteSocket } from '../../wire/socket.ts';
import { START_CREDIT } from '../../wire/stream.ts';
import type { UnreadLedger } from '../../wire/unread-budget.ts';
import type { Environment } from '../environment.ts';
import { HEAD_LIMITS, type HeadLimits } from '../http/head.ts';
import { type CarryOptions, DATA_FOLLOWS } from '../tunnels/connections.ts';
import type { TargetRotation } from '../tunnels/target-rotation.ts';
import { gateOf } from './request/gate.ts';
import type { HostEntry } from './host-entry.ts';
import type { GateRefusal, VhostPolicy, Visit } from './vhost-context.ts';

/** Decides by the settings, the clients and the hosts of the engine. */
export class HostPolicy implements VhostPolicy {
  readonly headLimits: HeadLimits;
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
    this.headLimits = environment.options.vhostHead ?? HEAD_LIMITS;
  }

  trusts(address: string): boolean {
    return this.#environment.trusts(address);
  }

  challenge(host: string, token: string): string | undefined | Promise<string | undefined> {
    const { acme, hosts } = this.#environment;
    return acme?.answer(host, token, hosts.isOwn(host));
  }

  gate(entry: HostEntry, visit: Visit): GateRefusal | undefined {
    return gateOf(this.#environment, entry, visit);
  }

  acceptsPassword({ wanted: { clientId } }: HostEntry): boolean {
    return this.#environment.clients.get(clientId)?.acceptsPassword === true;
  }

  tryPassword({ id, wanted: { clientId } }: HostEntry, address: string, password: string): 'right' | 'wrong' | 'wait' {
    const { attempts, log, now } = this.#environment;
    const guess = attempts.guess(
      'ipWhitePassword',
      address,
      `client ${clientId}`,
      now(),
      () => this.#environment.allowByPassword(clientId, address, password),
    );
    if (guess === 'right') log.info({ clientId, hostId: id, address }, "a visitor's address was allowed by the password");
    return guess;
  }

  dial(entry: HostEntry, visitor: PairOrigin, unread: UnreadLedger | undefined): ByteSocket | undefined {
    return this.#dial(entry, entry.targets, visitor, { dataFollows: true, credit: START_CREDIT, unread });
  }

  dialSecure(entry: HostEntry, visitor: PairOrigin): ByteSocket | undefined {
    return this.#dial(entry, entry.secureTargets, visitor, DATA_FOLLOWS);
  }

  /** Counted and limited like a tunnel's connection. */
  #dial(entry: HostEntry, targets: TargetRotation, visitor: PairOrigin, how: CarryOptions): ByteSocket | undefined {
    const payload = targets.next;
    const carrier = payload && this.#environment.admit(entry.wanted, visitor.remoteAddress);
    if (!carrier || typeof carrier === 'string') return undefined;
    targets.advance();
    const [near, far] = socketPair(visitor);
    this.#environment.visitors.trace?.same(visitor, near, far);
    entry.connections.carry(far, carrier.session, carrier.client, payload, how);
    return near;
  }
}
