import { AddressSet, turnedAwayBy } from '../rules/ip-access.ts';
import { canonicalAddress } from '../rules/ip-address.ts';
import { sameSecret } from '../rules/login.ts';
import { Pace } from '../rules/pace.ts';
import { visitorKeyOf } from '../rules/vkey.ts';
import { ControlBudget } from '../wire/control-budget.ts';
import { keyIdOf } from '../wire/handshake.ts';
import { AgentHistory } from './agent-history.ts';
import type { AgentSession } from './bridge/agent-session.ts';
import type { Reason } from './bridge/reasons.ts';
import {
  type ClientState,
  type ConnectionsPage,
  type ConnectionState,
  type RefusalCause,
  refusalCauses,
  type Refusals,
  type RowRange,
  type Traffic,
  type TunnelState,
  type WantedClient,
  type WantedTunnel,
} from './face.ts';
import type { ClientUsage } from './limits/client-usage.ts';
import type { Meter } from './limits/meter.ts';
import { NO_TRAFFIC, trafficSum } from '../rules/traffic-sum.ts';
import { AllowedAddresses } from './limits/allowed-addresses.ts';
import { sameLines, type VisitorLists } from './limits/visitor-lists.ts';

/** Sessions of one client: each costs log lines and events, and closes the connections of the previous session. */
const SESSIONS = { atOnce: 60, perSecond: 1 } as const;

/** How long new sessions of a client are refused after its agent violated the protocol, in ms. */
const BROKEN_MS = 5000;

/** A running tunnel of a client, which changes with its client. */
export interface ClientTunnel {
  readonly wanted: WantedTunnel;
  readonly meter: Meter;
  readonly state: TunnelState;
  /** Opens or closes its listener, as the client's state requires. */
  sync(): Promise<void>;
  /** The client's agent connected or disconnected, or its transport was changed. */
  clientChanged(): void;
  /** Discards the agent's last report on the health of its targets. */
  forgetHealth(): void;
}

/** One client: its settings, its agent while that is connected, and what was last seen of it. */
export class ClientEntry {
  #wanted: WantedClient;
  /** The compiled lists of `wanted`. */
  #lists: VisitorLists;
  /** Addresses that are allowed by the password; undefined = none. */
  #allowedAddresses: AllowedAddresses | undefined;
  readonly meter: ClientUsage;
  readonly tunnels = new Set<ClientTunnel>();
  session: AgentSession | undefined;
  readonly history = new AgentHistory();
  /** Its agent, which is not connected, said that it ends. */
  ended = false;
  /** The client may not serve, and was already cut off. */
  suspended = false;
  /** The session of an agent that has moved to another server. */
  #former: AgentSession | undefined;
  /** The address at which its agent was last seen, also before the server's start; "" = none. */
  lastAddress: string;
  /** Shared by all its sessions: a new session does not reset it. */
  readonly controlBudget = new ControlBudget();
  readonly #pace = new Pace(SESSIONS);
  /** When a session last ended because its agent broke the protocol. */
  #brokenAt = Number.NEGATIVE_INFINITY;

  /** @param lastAddress the stored address at which its agent was last seen */
  constructor(wanted: WantedClient, lists: VisitorLists, meter: ClientUsage, lastAddress = '') {
    this.lastAddress = lastAddress;
    this.#wanted = wanted;
    this.#lists = lists;
    this.meter = meter;
  }

  /** Called before a session of its agent begins. @returns false = sessions begin too often */
  maySession(now: number): boolean {
    // The clock may be set back.
    if (now >= this.#brokenAt && now - this.#brokenAt < BROKEN_MS) return false;
    return this.#pace.begin(now);
  }

  /** Called when a session ended because the agent violated the protocol. */
  sessionBroken(now: number): void {
    this.#brokenAt = now;
  }

  get wanted(): WantedClient {
    return this.#wanted;
  }

  /** Compiles the lists of new settings if they differ; pass both to `configure`. */
  async readyLists({ ipWhiteList, blackIpList }: WantedClient): Promise<VisitorLists> {
    const { white, black } = this.#lists;
    return {
      white: sameLines(ipWhiteList, this.#wanted.ipWhiteList) ? white : await AddressSet.gradually(ipWhiteList),
      black: sameLines(blackIpList, this.#wanted.blackIpList) ? black : await AddressSet.gradually(blackIpList),
    };
  }

  /** Applies new settings. */
  configure(wanted: WantedClient, lists: VisitorLists): void {
    const before = this.#wanted;
    this.#wanted = wanted;
    this.#lists = lists;
    // Visitors who knew the old password may not know the new one.
    if (wanted.ipWhitePassword !== before.ipWhitePassword) this.#allowedAddresses = undefined;
    this.meter.setLimits(wanted);
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
    this.history.begin(session, now);
  }

  /** @param ended its agent said that it ends */
  disconnected(session: Pick<AgentSession, 'end' | 'endText'>, now: number, ended: boolean): void {
    this.ended = ended;
    this.session = undefined;
    this.history.end(session, now);
  }

  /** Its agent has moved to another server: the open connections of the session may end. */
  letGo(now: number): void {
    if (!this.session) return;
    this.#former?.close('replaced');
    this.#former = this.session;
    this.disconnected({ end: 'moved', endText: 'the agent has connected to another server of the installation' }, now, false);
  }

  /** Ends the agent's session, and a former one whose last connections are ending. */
  closeSessions(reason: Reason): void {
    this.session?.close(reason);
    this.#former?.close(reason);
  }

  /** @see EngineFace.connections */
  connections({ offset, limit }: RowRange): ConnectionsPage {
    const rows: ConnectionState[] = [];
    let index = 0;
    for (const connection of this.meter.open) {
      if (rows.length >= limit) break;
      if (index++ >= offset) rows.push(connection.state);
    }
    return { rows, total: this.meter.open.size };
  }

  /** Closes a connection. @returns its last state; undefined = there is none of that id */
  closeConnection(id: number): ConnectionState | undefined {
    for (const connection of this.meter.open) {
      const { state } = connection;
      if (state.id !== id) continue;
      connection.cut();
      return state;
    }
    return undefined;
  }

  state(now: number): ClientState {
    return { ...this.history.state(now), refusals: this.meter.refusals, ...this.meter.traffic };
  }
}

/** All clients, by id and by the key id of an agent's handshake. */
export class Clients {
  readonly #byId = new Map<number, ClientEntry>();
  readonly #byKeyId = new Map<string, ClientEntry>();
  readonly #byVisitorKey = new Map<string, ClientEntry>();

  get(id: number): ClientEntry | undefined {
    return this.#byId.get(id);
  }

  byKeyId(keyId: string): ClientEntry | undefined {
    return this.#byKeyId.get(keyId);
  }

  all(): IterableIterator<ClientEntry> {
    return this.#byId.values();
  }

  /** The client whose key has this digest (contract 3.2), if it accepts visitors by a password. */
  byVisitorKey(digest: string): ClientEntry | undefined {
    return this.#byVisitorKey.get(digest);
  }

  /** Open connections and bytes of the visitors of clients, together. @param of whether a client counts */
  traffic(of: (clientId: number) => boolean = () => true): Traffic {
    let sum = NO_TRAFFIC;
    for (const { meter, wanted: { id } } of this.all()) {
      if (of(id)) sum = trafficSum(sum, meter.traffic);
    }
    return sum;
  }

  /** Refused connections of the visitors of all clients by cause, together. */
  refusals(): Refusals {
    const sums: Partial<Record<RefusalCause, number>> = {};
    for (const { meter } of this.all()) {
      for (const cause of refusalCauses) if (meter.refusals[cause]) sums[cause] = (sums[cause] ?? 0) + meter.refusals[cause];
    }
    return sums;
  }

  add(entry: ClientEntry): void {
    this.#byId.set(entry.wanted.id, entry);
    this.#addKeys(entry);
  }

  /** Applies new settings; a replaced key no longer identifies the client. */
  update(entry: ClientEntry, wanted: WantedClient, lists: VisitorLists): void {
    this.#removeKeys(entry);
    entry.configure(wanted, lists);
    this.#addKeys(entry);
  }

  remove(entry: ClientEntry): void {
    this.#byId.delete(entry.wanted.id);
    this.#removeKeys(entry);
  }

  #addKeys(entry: ClientEntry): void {
    const { vkey, ipWhitePassword } = entry.wanted;
    this.#byKeyId.set(keyIdOf(vkey), entry);
    if (ipWhitePassword !== '') this.#byVisitorKey.set(visitorKeyOf(vkey), entry);
  }

  #removeKeys(entry: ClientEntry): void {
    const { vkey, ipWhitePassword } = entry.wanted;
    // An import may have given the key to another client already.
    const remove = (keys: Map<string, ClientEntry>, key: string): void => {
      if (keys.get(key) === entry) keys.delete(key);
    };
    remove(this.#byKeyId, keyIdOf(vkey));
    if (ipWhitePassword !== '') remove(this.#byVisitorKey, visitorKeyOf(vkey));
  }
}
