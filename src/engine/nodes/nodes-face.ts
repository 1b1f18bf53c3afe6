import { trafficSum } from '../../rules/traffic-sum.ts';
import { SESSIONS_KEPT } from '../agent-history.ts';
import type { Engine } from '../engine.ts';
import type { AgentSessionState, ClientState, ConnectionsPage, ConnectionState, EngineEvent, HostState, RowRange, Traffic, TunnelState } from '../face.ts';
import { LocalFace } from '../local-face.ts';
import { ask } from './ask.ts';
import { clientAnswers, agentSessionsAnswer, closedAnswer, connectionsAnswer, hostAnswers, probeAnswer, trafficAnswer, tunnelAnswers } from './node-answers.ts';
import type { NodeLink } from './node-link.ts';
import type { Nodes } from './nodes.ts';

/** Added to the timeout of a probe, in ms: for the ways to the other node and to the agent. */
const PROBE_WAY_MS = 3000;
/** Records in one request: a tunnel may have a thousand visitor programs. */
const TOGETHER = 50;

/** The engines of all nodes as one: each client's state is that of its home. */
export class NodesFace extends LocalFace {
  readonly #nodes: Nodes;

  constructor(engine: Engine, nodes: Nodes) {
    super(engine);
    this.#nodes = nodes;
  }

  override async clientStates(ids: readonly number[]): Promise<Array<ClientState | undefined>> {
    const here = await super.clientStates(ids);
    const states = await this.#merged('client', ids, here, async (link, some) => await ask(link, { kind: 'clients', ids: some }, clientAnswers) ?? []);
    return states.map((state, index) => state && { ...state, home: this.#nodes.nodeOf(ids[index] ?? 0) });
  }

  /** Whether its listener is open, and which visitor programs are connected, are facts of each node, and health is known to all; the rest is known at home. */
  override async tunnelStates(ids: readonly number[]): Promise<Array<TunnelState | undefined>> {
    const here = await super.tunnelStates(ids);
    const home = await this.#merged('tunnel', ids, here, async (link, some) => await ask(link, { kind: 'tunnels', ids: some }, tunnelAnswers) ?? []);
    return home.map((state, index) => {
      const own = here[index];
      return state === own || !state || !own ? state : withOwn(state, own);
    });
  }

  override async hostStates(ids: readonly number[]): Promise<Array<HostState | undefined>> {
    const here = await super.hostStates(ids);
    const home = await this.#merged('host', ids, here, async (link, some) => await ask(link, { kind: 'hosts', ids: some }, hostAnswers) ?? []);
    return home.map((state, index) => state && { ...state, health: here[index]?.health ?? null });
  }

  /** Each node knows the sessions of the agents that were connected to it. */
  override async agentSessions(clientId: number): Promise<readonly AgentSessionState[]> {
    const all = await Promise.all([
      super.agentSessions(clientId),
      ...Array.from(this.#nodes.links(), (link) => ask(link, { kind: 'agentSessions', clientId }, agentSessionsAnswer)),
    ]);
    return all.flatMap((sessions) => sessions ?? []).toSorted((one, other) => other.since - one.since).slice(0, SESSIONS_KEPT);
  }

  override async traffic(): Promise<Traffic> {
    const [own, ...others] = await Promise.all([
      super.traffic(),
      ...Array.from(this.#nodes.links(), (link) => ask(link, { kind: 'traffic' }, trafficAnswer)),
    ]);
    return others.reduce<Traffic>((sum, other) => other ? trafficSum(sum, other) : sum, own);
  }

  override async connections(clientId: number, range: RowRange): Promise<ConnectionsPage> {
    const link = this.#nodes.linkTo(clientId);
    if (!link) return super.connections(clientId, range);
    return await ask(link, { kind: 'connections', clientId, ...range }, connectionsAnswer) ?? { rows: [], total: 0 };
  }

  override async closeConnection(clientId: number, id: number): Promise<ConnectionState | undefined> {
    const link = this.#nodes.linkTo(clientId);
    if (!link) return super.closeConnection(clientId, id);
    return await ask(link, { kind: 'closeConnection', clientId, id }, closedAnswer) ?? undefined;
  }

  override async probe(clientId: number, target: string, timeoutMs: number): Promise<string> {
    const link = this.#nodes.linkTo(clientId);
    if (!link) return super.probe(clientId, target, timeoutMs);
    return await ask(link, { kind: 'probe', clientId, target, timeoutMs }, probeAnswer, timeoutMs + PROBE_WAY_MS)
      ?? 'the server that the agent is connected to did not answer';
  }

  /** The states in the order of the ids; those of clients with another home are requested there. */
  async #merged<State>(
    kind: EngineEvent['kind'],
    ids: readonly number[],
    here: readonly (State | undefined)[],
    request: (link: NodeLink, ids: number[]) => Promise<ReadonlyArray<State | null>>,
  ): Promise<Array<State | undefined>> {
    const states = [...here];
    const asked = new Map<NodeLink, number[]>();
    for (const [index, id] of ids.entries()) {
      const clientId = this.#nodes.clientOf(kind, id);
      const link = clientId === undefined ? undefined : this.#nodes.linkTo(clientId);
      if (link) asked.set(link, [...asked.get(link) ?? [], index]);
    }
    await Promise.all(Array.from(asked, async ([link, indexes]) => {
      for (let start = 0; start < indexes.length; start += TOGETHER) {
        const part = indexes.slice(start, start + TOGETHER);
        const answers = await request(link, part.map((index) => ids[index] ?? 0));
        for (const [at, index] of part.entries()) states[index] = answers[at] ?? states[index];
      }
    }));
    return states;
  }
}

function withOwn(home: TunnelState, { running, error, dropped, visitors, health }: TunnelState): TunnelState {
  return { ...home, running, error, health, dropped: home.dropped + dropped, visitors: [...visitors, ...home.visitors] };
}
