import { type DialResult, encodeDialResult } from '../../wire/dial-result.ts';
import type { HealthMessage } from '../../wire/health.ts';
import { MessageSocket } from '../../wire/message-socket.ts';
import { joinedEnds } from '../../wire/joined-ends.ts';
import type { Stream } from '../../wire/mux.ts';
import type { NodeRequest } from '../../wire/node-messages.ts';
import { decodeOpen } from '../../wire/open.ts';
import { socketPair } from '../../wire/socket-pair.ts';
import type { Joinable, OpenerVisitor } from '../../wire/stream.ts';
import type { Environment } from '../environment.ts';
import type { ClientState, ConnectionsPage, ConnectionState, EngineEvent, HostState, RefusalCause, RowRange, Traffic, TunnelState } from '../face.ts';
import type { CheckedRecord } from './health-news.ts';
import { ofClient, visitorRequest } from './home-opener.ts';
import { totalsOf } from './known-counters.ts';
import { gatheredStates } from '../gathered-states.ts';
import type { Tunnels } from '../tunnels/tunnels.ts';

/** What other nodes may ask for: the state of the clients whose home is here. */
export interface NodeState {
  clientState(id: number): ClientState | undefined;
  tunnelState(id: number): TunnelState | undefined;
  hostState(id: number): HostState | undefined;
  traffic(): Traffic;
  connections(clientId: number, range: RowRange): ConnectionsPage;
  closeConnection(clientId: number, id: number): ConnectionState | undefined;
  probe(clientId: number, target: string, timeoutMs: number): Promise<string>;
}

/** The results of a dial by which the visitor's node learns why the home refused the connection. */
const resultByCause: Partial<Record<RefusalCause, DialResult>> = { flow: 'exhausted', connections: 'crowded', capacity: 'crowded' };

/** Serves what other nodes open streams for. */
export class NodeRequests {
  readonly #environment: Environment;
  readonly #tunnels: Tunnels;
  readonly #state: NodeState;

  constructor(environment: Environment, tunnels: Tunnels, state: NodeState) {
    this.#environment = environment;
    this.#tunnels = tunnels;
    this.#state = state;
  }

  /** The client of a record; undefined = there is no such record. */
  clientOf(kind: EngineEvent['kind'], id: number): number | undefined {
    if (kind === 'client') return id;
    return (kind === 'tunnel' ? this.#tunnels.get(id) : this.#environment.hosts.get(id))?.wanted.clientId;
  }

  /** The tunnels and hosts whose targets are checked. @param of whether a client counts */
  *checkedRecords(of: (clientId: number) => boolean): Generator<CheckedRecord> {
    for (const [kind, records] of [['tunnel', this.#tunnels.all()], ['host', this.#environment.hosts.all()]] as const) {
      for (const { health, wanted: { id, clientId } } of records) if (health && of(clientId)) yield { clientId, of: kind, id };
    }
  }

  /** What its agent would report about a tunnel or host now. */
  healthReports({ of, id }: Pick<HealthMessage, 'of' | 'id'>): Iterable<HealthMessage> {
    const record = of === 'tunnel' ? this.#tunnels.get(id) : this.#environment.hosts.get(id);
    return record?.health?.reports(of, id, this.#environment.now()) ?? [{ type: 'health', of, id, check: null, targets: [] }];
  }

  /** Takes a stream. @param rest the bytes after the request */
  take(stream: Stream, request: NodeRequest, rest: Buffer): void {
    switch (request.kind) {
      case 'visitor':
        ofClient(stream, request.clientId, this.#environment.clients.get(request.clientId)?.wanted.crypt ?? true);
        return this.#takeVisitor(stream, request, rest);
      case 'clients':
        return answer(stream, request.ids.map((id) => this.#state.clientState(id) ?? null));
      case 'tunnels':
        return answerWithoutHealth(stream, request.ids, (id) => this.#state.tunnelState(id));
      case 'hosts':
        return answerWithoutHealth(stream, request.ids, (id) => this.#state.hostState(id));
      case 'agentSessions':
        return answer(stream, this.#environment.clients.get(request.clientId)?.history.sessions ?? []);
      case 'traffic':
        return answer(stream, this.#state.traffic());
      case 'totals': {
        const entry = this.#environment.clients.get(request.clientId);
        return answer(stream, entry ? totalsOf(this.#environment, entry) : null);
      }
      case 'connections':
        return answer(stream, this.#state.connections(request.clientId, request));
      case 'closeConnection':
        return answer(stream, this.#state.closeConnection(request.clientId, request.id) ?? null);
      case 'probe':
        void this.#state.probe(request.clientId, request.target, request.timeoutMs).then((problem) => answer(stream, problem));
    }
  }

  /** Takes a visitor who came to this node, and whose client's home this node has become meanwhile. */
  open(clientId: number, payload: Buffer, dataFollows = false, credit?: number, visitor?: OpenerVisitor): Joinable | undefined {
    if (!visitor) return undefined;
    const [near, far] = joinedEnds();
    this.#takeVisitor(far, visitorRequest(clientId, visitor, dataFollows, credit), payload);
    return near;
  }

  /** Admits, counts and limits the connection as if the visitor had come to this node. */
  #takeVisitor(stream: Joinable, request: NodeRequest<'visitor'>, payload: Buffer): void {
    const { clientId, of, id, address, port, local, dataFollows, passedOn, credit } = request;
    const { clients, hosts, admission } = this.#environment;
    const entry = clients.get(clientId);
    const tunnel = of === 'tunnel' ? this.#tunnels.get(id) : undefined;
    const record = tunnel ?? (of === 'host' ? hosts.get(id) : undefined);
    if (!entry || record?.wanted.clientId !== clientId || !record.wanted.enabled) {
      stream.reset();
      return;
    }
    const origin = { remoteAddress: address, remotePort: port, ...local && { local } };
    // This server's own request to the agent, with its ports for STUN.
    if (tunnel?.wanted.mode === 'p2p' && decodeOpen(payload)?.kind === 'direct') {
      const [near, far] = socketPair(origin);
      stream.join(near);
      tunnel.onDirect(far);
      return;
    }
    // The agent has just gone to another node, and the visitor's node does not know it yet.
    const elsewhere = passedOn || entry.session ? undefined : this.#environment.nodes?.openerTo(clientId, record.wanted.localProxy);
    if (elsewhere) {
      const further = elsewhere.open(payload, dataFollows, credit, { of, id, socket: origin, passedOn: true });
      const [near, far] = socketPair(origin);
      stream.join(near, { credit });
      if (further) further.join(far);
      else far.destroy(true);
      return;
    }
    // Nobody else may dial targets for the client: its home counts and limits.
    const notHome = record.wanted.localProxy && this.#environment.nodes?.isHome(clientId) === false;
    const admitted = notHome ? 'offline' : admission.admit(entry, address, record.wanted.localProxy);
    if (typeof admitted === 'string') {
      record.meter.countRefusal(admitted);
      entry.meter.countRefusal(admitted);
      if (decodeOpen(payload)?.kind === 'dial') stream.join(new MessageSocket(encodeDialResult(resultByCause[admitted] ?? 'offline')));
      else stream.reset();
      return;
    }
    const [near, far] = socketPair(origin);
    stream.join(near, { credit });
    record.connections.carry(far, admitted.session, admitted.client, payload, { dataFollows, ...credit !== undefined && { credit } });
  }
}

function answer(stream: Stream, value: unknown): void {
  stream.join(new MessageSocket(JSON.stringify(value)));
}

/** Answers with the states of tunnels or hosts. All nodes get the reports on health, which would make the answer some megabytes long. */
function answerWithoutHealth(stream: Stream, ids: readonly number[], stateOf: (id: number) => TunnelState | HostState | undefined): void {
  void gatheredStates(ids, stateOf).then((states) => answer(stream, states.map((state) => state ? { ...state, health: null } : null)));
}
