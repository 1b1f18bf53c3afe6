import type { Engine } from './engine.ts';
import type {
  AgentSessionState,
  ClientState,
  ConnectionsPage,
  ConnectionState,
  DifferentSettings,
  EngineFace,
  HostState,
  PortLease,
  PortRefusal,
  PortRequest,
  RefusalCount,
  RowRange,
  StateBatch,
  Traffic,
  TunnelState,
} from './face.ts';
import { PortUnavailableError } from './ports/port-book.ts';
import { gatheredStates } from './gathered-states.ts';
import { listedCertificates, troublesOf } from './troubles.ts';

/** The interface of an engine that runs in the caller's thread, for the schema, metrics and the store of its state. */
export class LocalFace implements EngineFace {
  readonly modes: EngineFace['modes'];
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.modes = engine.modes;
  }

  async reservePort(request: PortRequest): Promise<PortLease | PortRefusal> {
    try {
      return await this.#engine.reservePort(request);
    } catch (error) {
      if (error instanceof PortUnavailableError) return { unavailable: error.message, holder: error.holder };
      throw error;
    }
  }

  releasePort: EngineFace['releasePort'] = (leaseId) => this.#engine.releasePort(leaseId);
  apply: EngineFace['apply'] = (change) => this.#engine.apply(change);
  wanted: EngineFace['wanted'] = async () => this.#engine.wanted();
  hostCertificates: EngineFace['hostCertificates'] = (questions) => Promise.all(questions.map(({ id, name }) => this.#engine.hostCertificate(id, name)));
  listedCertificates: EngineFace['listedCertificates'] = () => listedCertificates(this.#engine.records);
  troubles: EngineFace['troubles'] = () => troublesOf(this.#engine.records);
  retryAcme: EngineFace['retryAcme'] = (hostId) => this.#engine.records.hosts.retryAcme(hostId);
  clientOfVisitors: EngineFace['clientOfVisitors'] = async (keyDigest) => this.#engine.clientOfVisitors(keyDigest);
  allowByPassword: EngineFace['allowByPassword'] = async (clientId, address, password) => this.#engine.allowByPassword(clientId, address, password);
  isAllowedByPassword: EngineFace['isAllowedByPassword'] = async (clientId, address) => this.#engine.isAllowedByPassword(clientId, address);
  watch: EngineFace['watch'] = (listener) => this.#engine.watch((event) => listener([event]));

  async clientStates(ids: readonly number[]): Promise<Array<ClientState | undefined>> {
    return ids.map((id) => this.#engine.clientState(id));
  }

  async agentSessions(clientId: number): Promise<readonly AgentSessionState[]> {
    return this.#engine.records.clients.get(clientId)?.history.sessions ?? [];
  }

  async tunnelStates(ids: readonly number[]): Promise<Array<TunnelState | undefined>> {
    return gatheredStates(ids, (id) => this.#engine.tunnelState(id));
  }

  async hostStates(ids: readonly number[]): Promise<Array<HostState | undefined>> {
    return gatheredStates(ids, (id) => this.#engine.hostState(id));
  }

  async traffic(): Promise<Traffic> {
    return this.#engine.traffic();
  }

  async connections(clientId: number, range: RowRange): Promise<ConnectionsPage> {
    return this.#engine.connections(clientId, range);
  }

  async closeConnection(clientId: number, id: number): Promise<ConnectionState | undefined> {
    return this.#engine.closeConnection(clientId, id);
  }

  async probe(clientId: number, target: string, timeoutMs: number): Promise<string> {
    return this.#engine.probe(clientId, target, timeoutMs);
  }

  async differentSettings(): Promise<readonly DifferentSettings[]> {
    return this.#engine.nodes?.differentSettings ?? [];
  }

  /** Current numbers and totals, for metrics. */
  async numbers() {
    const counts = { ...this.#engine.counts, nodesUnreached: this.#engine.nodes?.unreached.length ?? 0 };
    return { counts, traffic: this.#engine.traffic(), refusals: this.#engine.records.clients.refusals() };
  }

  /** What changed since the last call. When it could not be stored, give it back with `restoreDirty`. */
  takeDirty(): Promise<StateBatch> {
    return this.#engine.takeDirty();
  }

  /** The visitors' connections that this server has refused since the last call. */
  takeRefusals(): RefusalCount[] {
    return this.#engine.takeRefusals();
  }

  /** The batch was not stored: the next `takeDirty` holds its records again. */
  async restoreDirty(batch: StateBatch): Promise<void> {
    this.#engine.restoreDirty(batch);
  }
}
