import { type PairOrigin, socketPair } from '../../wire/socket-pair.ts';
import type { ByteSocket } from '../../wire/socket.ts';
import { START_CREDIT } from '../../wire/stream.ts';
import type { UnreadLedger } from '../../wire/unread-budget.ts';
import type { Environment } from '../environment.ts';
import type { RefusalCause } from '../face.ts';
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
    const dialed = this.#dial(entry, entry.targets, visitor, { dataFollows: true, credit: START_CREDIT, unread });
    return typeof dialed === 'string' ? undefined : dialed;
  }

  dialSecure(entry: HostEntry, visitor: PairOrigin): ByteSocket | undefined {
    const dialed = this.#dial(entry, entry.secureTargets, visitor, DATA_FOLLOWS);
    if (typeof dialed !== 'string') return dialed;
    // Unlike a request, this visitor has passed no gate that counts refusals.
    this.#environment.visitors.trace?.say(visitor, 'refused', { hostId: entry.id, cause: dialed });
    entry.meter.countRefusal(dialed);
    this.#environment.refused(entry.wanted.clientId, dialed);
    return undefined;
  }

  /** Counted and limited like a tunnel's connection. @returns why it is refused, which is not counted here */
  #dial(entry: HostEntry, targets: TargetRotation, visitor: PairOrigin, how: CarryOptions): ByteSocket | RefusalCause {
    const payload = targets.next;
    if (!payload) return 'noTarget';
    const carrier = this.#environment.admit(entry.wanted, visitor.remoteAddress);
    if (typeof carrier === 'string') return carrier;
    targets.advance();
    const [near, far] = socketPair(visitor);
    this.#environment.visitors.trace?.same(visitor, near, far);
    entry.connections.carry(far, carrier.session, carrier.client, payload, how);
    return near;
  }
}
