import { type AddressSet, turnedAwayBy } from '../rules/ip-access.ts';
import { canonicalAddress } from '../rules/ip-address.ts';
import { sameSecret } from '../rules/login.ts';
import type { ControlBudget } from '../wire/control-budget.ts';
import { AgentHistory } from './agent-history.ts';
import { AgentRecord } from './agent-record.ts';
import type { AgentSession } from './bridge/agent-session.ts';
import type { StandbySession } from './bridge/standby-session.ts';
import type { Reason } from './bridge/reasons.ts';
import {
  type ClientState,
  type ConnectionsPage,
  type ConnectionState,
  type Refusals,
  type RowRange,
  type Traffic,
  type TunnelState,
  type WantedClient,
  type WantedTunnel,
} from './face.ts';
import { ClientUsage } from './limits/client-usage.ts';
import { keptBytes, type Meter, refusalsOf, type StoredBytes, type Ticker, trafficOf } from './limits/meter.ts';
import { AllowedAddresses } from './limits/allowed-addresses.ts';
import { compiledList, type VisitorLists } from './limits/visitor-lists.ts';
import { keptClient } from './kept-client.ts';
import type { HostEntry } from './vhost/host-entry.ts';
import { type Sibling, siblings, withoutSibling, withSibling } from './siblings.ts';

/** A tunnel of a client, which changes with its client. */
export interface ClientTunnel extends Sibling<ClientTunnel> {
  readonly wanted: WantedTunnel;
  /** Made when it is asked for. */
  readonly meter: Meter;
  readonly traffic: Traffic;
  readonly state: TunnelState;
  /** Opens or closes its listener, as the client's state requires. */
  sync(): Promise<void>;
  /** The client's agent connected or disconnected, or its transport was changed. */
  clientChanged(): void;
  /** Discards the agent's last report on the health of its targets. */
  forgetHealth(): void;
}

/** The same for all clients. */
export interface ClientParts {
  readonly ticker: Ticker;
  /** The flow limit of a client is passed: its connections have to be closed. */
  readonly onExhausted: (entry: ClientEntry) => void;
}

/** Of clients whose agents have not connected since the server started. */
const NO_HISTORY = new AgentHistory();

/** One client: its settings, its agent while that is connected, and what was last seen of it. */
export class ClientEntry {
  #wanted: WantedClient;
  /** The compiled lists of `wanted`. */
  #lists: VisitorLists;
  /** Addresses that are allowed by the password; undefined = none. */
  #allowedAddresses: AllowedAddresses | undefined;
  readonly #parts: ClientParts;
  /** What it has counted, until it has a meter. */
  #counted: ClientUsage | StoredBytes;
  #firstTunnel: ClientTunnel | undefined;
  session: AgentSession | undefined;
  /** The session of its agent while that is connected to another server. */
  standby: StandbySession | undefined;
  #agent: AgentRecord | undefined;
  /** Its agent, which is not connected, said that it ends. */
  ended = false;
  /** The client may not serve, and was already cut off. */
  suspended = false;
  /** The session of an agent that has moved to another server. */
  #former: AgentSession | undefined;
  /** The address at which its agent was last seen, also before the server's start; "" = none. */
  lastAddress: string;
  /** Its first host. */
  firstHost: HostEntry | undefined;

  /** @param stored its totals @param lastAddress the stored address at which its agent was last seen */
  constructor(wanted: WantedClient, lists: VisitorLists, parts: ClientParts, stored: StoredBytes, lastAddress = '') {
    this.lastAddress = lastAddress;
    this.#wanted = keptClient(wanted);
    this.#lists = lists;
    this.#parts = parts;
    this.#counted = keptBytes(stored);
  }

  /** What it uses and may use: made with its first visitor or session. */
  get meter(): ClientUsage {
    if (this.#counted instanceof ClientUsage) return this.#counted;
    const { ticker, onExhausted } = this.#parts;
    return this.#counted = new ClientUsage(ticker, this.#wanted, this.#counted, () => onExhausted(this));
  }

  /** Its meter; undefined = it had no visitors and no session yet. */
  get usedMeter(): ClientUsage | undefined {
    return this.#counted instanceof ClientUsage ? this.#counted : undefined;
  }

  get traffic(): Traffic {
    return trafficOf(this.#counted);
  }

  get refusals(): Refusals {
    return refusalsOf(this.#counted);
  }

  get tunnels(): Generator<ClientTunnel> {
    return siblings(this.#firstTunnel);
  }

  addTunnel(tunnel: ClientTunnel): void {
    this.#firstTunnel = withSibling(this.#firstTunnel, tunnel);
  }

  removeTunnel(tunnel: ClientTunnel): void {
    this.#firstTunnel = withoutSibling(this.#firstTunnel, tunnel);
  }

  /** The sessions of its agent. */
  get history(): AgentHistory {
    return this.#agent?.history ?? NO_HISTORY;
  }

  /** Shared by all sessions of its agent: a new session does not reset it. */
  get controlBudget(): ControlBudget {
    return this.#usedAgent.controlBudget;
  }

  /** @see AgentRecord.maySession */
  maySession(now: number): boolean {
    return this.#usedAgent.maySession(now);
  }

  /** @see AgentRecord.sessionBroken */
  sessionBroken(now: number): void {
    this.#usedAgent.sessionBroken(now);
  }

  get #usedAgent(): AgentRecord {
    return this.#agent ??= new AgentRecord();
  }

  get wanted(): WantedClient {
    return this.#wanted;
  }

  /** Compiles the lists of new settings if they differ; pass both to `configure`. */
  async readyLists({ ipWhiteList, blackIpList }: WantedClient): Promise<VisitorLists> {
    const { white, black } = this.#lists;
    return {
      white: ipWhiteList === this.#wanted.ipWhiteList ? white : await compiledList(ipWhiteList),
      black: blackIpList === this.#wanted.blackIpList ? black : await compiledList(blackIpList),
    };
  }

  /** Applies new settings. */
  configure(wanted: WantedClient, lists: VisitorLists): void {
    const before = this.#wanted;
    this.#wanted = keptClient(wanted);
    this.#lists = lists;
    // Visitors who knew the old password may not know the new one.
    if (wanted.ipWhitePassword !== before.ipWhitePassword) this.#allowedAddresses = undefined;
    this.usedMeter?.setLimits(wanted);
  }

  /** Whether visitors who are not on its allowlist can get access by a password (contract D14). */
  get acceptsPassword(): boolean {
    return this.#wanted.ipWhite && this.#wanted.ipWhitePassword !== '';
  }

  /** Allows an address whose visitor gave the password (contract D14). @returns false if the password is wrong or not set */
  allowByPassword(address: string, password: string, now: number): boolean {
    const right = sameSecret(password, this.#wanted.ipWhitePassword);
    if (this.#wanted.ipWhitePassword === '' || !right) return false;
    this.allow(address, now);
    return true;
  }

  /** Allows an address whose visitor gave the password, here or at another server. */
  allow(address: string, now: number): void {
    (this.#allowedAddresses ??= new AllowedAddresses()).add(canonicalAddress(address) ?? address, now);
  }

  /** Whether an address was allowed by the password and that has not expired. */
  isAllowedByPassword(address: string, now: number): boolean {
    return this.#allowedAddresses?.has(canonicalAddress(address) ?? address, now) === true;
  }

  /** The list that refuses a visitor; undefined = none does. */
  turnedAwayBy(address: string, globalBlackList: AddressSet, now: number): ReturnType<typeof turnedAwayBy> {
    const ipWhite = this.#wanted.ipWhite && !this.isAllowedByPassword(address, now);
    return turnedAwayBy(address, { globalBlackList, ipWhite, whiteList: this.#lists.white, blackList: this.#lists.black });
  }

  /** Why its agent and its tunnels may not serve; "" = they may (contract D13). */
  blocked(now: number): '' | 'disabled' | 'expired' {
    if (!this.wanted.enabled) return 'disabled';
    return this.wanted.expiresAt !== null && now >= this.wanted.expiresAt ? 'expired' : '';
  }

  connected(session: AgentSession, now: number): void {
    this.session = session;
    this.lastAddress = session.address;
    this.#usedAgent.history.begin(session, now);
  }

  /** @param ended its agent said that it ends */
  disconnected(session: Pick<AgentSession, 'end' | 'endText'>, now: number, ended: boolean): void {
    this.ended = ended;
    this.session = undefined;
    this.#agent?.history.end(session, now);
  }

  /** Its agent has moved to another server: the open connections of the session may end. */
  letGo(now: number): void {
    if (!this.session) return;
    this.#former?.close('replaced');
    this.#former = this.session;
    this.disconnected({ end: 'moved', endText: 'the agent has connected to another server of the installation' }, now, false);
  }

  /** Ends the sessions of its agent that are not as `crypt` demands. A former one may be more secure than that. */
  transportChanged(crypt: boolean): void {
    // An agent may use TLS without being asked.
    if (this.session?.secure !== crypt) this.session?.close('transport-changed');
    if (crypt && this.#former?.secure === false) this.#former.close('transport-changed');
  }

  /** Ends the agent's session, one in reserve, and a former one whose last connections are ending. */
  closeSessions(reason: Reason): void {
    this.session?.close(reason);
    this.#former?.close(reason);
    this.standby?.close(reason);
  }

  /** @see EngineFace.connections */
  connections({ offset, limit }: RowRange): ConnectionsPage {
    const rows: ConnectionState[] = [];
    const open = this.usedMeter?.open;
    let index = 0;
    for (const connection of open ?? []) {
      if (rows.length >= limit) break;
      if (index++ >= offset) rows.push(connection.state);
    }
    return { rows, total: open?.size ?? 0 };
  }

  /** Closes a connection. @returns its last state; undefined = there is none of that id */
  closeConnection(id: number): ConnectionState | undefined {
    for (const connection of this.usedMeter?.open ?? []) {
      const { state } = connection;
      if (state.id !== id) continue;
      connection.cut();
      return state;
    }
    return undefined;
  }

  state(now: number): ClientState {
    const { connected, connectedSince, secure, end, address, localAddress, version, lastOnlineAt } = this.history.state(now);
    const { connections, rate, inletRate, exportRate, inletBytes, exportBytes } = this.traffic;
    // Each property is named because spreading two objects into a third is slow in V8, and a list needs a state for each row (docs/performance.md, "The figures").
    return {
      connected,
      connectedSince,
      lastHeardAt: this.session === undefined ? null : Math.round(now - this.session.silence),
      secure,
      end,
      address,
      localAddress,
      version,
      connections,
      refusals: this.refusals,
      rate,
      inletRate,
      exportRate,
      inletBytes,
      exportBytes,
      lastOnlineAt,
    };
  }
}
