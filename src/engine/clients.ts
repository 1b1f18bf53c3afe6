import { addBytes } from '../rules/byte-count.ts';
import { AddressSet, turnedAwayBy } from '../rules/ip-access.ts';
import { canonicalAddress } from '../rules/ip-address.ts';
import { sameSecret } from '../rules/login.ts';
import { Pace } from '../rules/pace.ts';
import { visitorKeyOf } from '../rules/vkey.ts';
import { keyIdOf } from '../wire/handshake.ts';
import type { AgentSession } from './bridge/agent-session.ts';
import { type ClientState, type ConnectionState, type RefusalCause, refusalCauses, type Refusals, type Traffic, type TunnelState, type WantedClient, type WantedTunnel } from './face.ts';
import type { Account } from './limits/account.ts';
import { LetIn } from './limits/let-in.ts';

/** Sessions of one client: each costs lines of the log, events, and the connections of the one before. */
const SESSIONS = { atOnce: 60, perSecond: 1 } as const;

/** A running tunnel of a client, which changes with its client. */
export interface ClientTunnel {
  readonly wanted: WantedTunnel;
  readonly state: TunnelState;
  /** Brings its listener in line with what the client may do. */
  sync(): Promise<void>;
  /** The client's agent came or went, or its transport was changed. */
  clientChanged(): void;
  /** What its agent last told of the health of its targets counts no more. */
  forgetHealth(): void;
}

/** One client: what is wanted of it, its agent while that is connected, and what was last seen of it. */
export class ClientEntry {
  #wanted: WantedClient;
  /** The lists of `wanted`, ready to be asked. */
  #lists: VisitorLists;
  /** Visitors who said the password; undefined = nobody did. */
  #letIn: LetIn | undefined;
  readonly meter: Account;
  readonly tunnels = new Set<ClientTunnel>();
  session: AgentSession | undefined;
  /** It was cut off already because it may not serve. */
  suspended = false;
  #lastOnlineAt: number | null = null;
  #address = '';
  #lastAddress: string;
  readonly #pace = new Pace(SESSIONS);
  #localAddress = '';
  #version = '';

  /** @param lastAddress where its agent was seen last, as the store knows */
  constructor(wanted: WantedClient, lists: VisitorLists, meter: Account, lastAddress = '') {
    this.#lastAddress = lastAddress;
    this.#wanted = wanted;
    this.#lists = lists;
    this.meter = meter;
  }

  /** A session of its agent is to begin. @returns false = its sessions begin too often */
  maySession(now: number): boolean {
    return this.#pace.begin(now);
  }

  /** Where its agent was seen last, before the server's start too; "" = nowhere. */
  get lastAddress(): string {
    return this.#lastAddress;
  }

  get wanted(): WantedClient {
    return this.#wanted;
  }

  /** Makes ready the lists of new settings, as far as they are others; `configure` takes both then. */
  async readyLists({ ipWhiteList, blackIpList }: WantedClient): Promise<VisitorLists> {
    const { white, black } = this.#lists;
    return {
      white: sameLines(ipWhiteList, this.#wanted.ipWhiteList) ? white : await AddressSet.gradually(ipWhiteList),
      black: sameLines(blackIpList, this.#wanted.blackIpList) ? black : await AddressSet.gradually(blackIpList),
    };
  }

  /** Takes new settings. */
  configure(wanted: WantedClient, lists: VisitorLists): void {
    const before = this.#wanted;
    this.#wanted = wanted;
    this.#lists = lists;
    // Who knew the old password may not know the new one.
    if (wanted.ipWhitePassword !== before.ipWhitePassword) this.#letIn = undefined;
    this.meter.setLimits(wanted);
  }

  /** Visitors who are not on its whitelist may let themselves in (contract D14). */
  get letsVisitorsIn(): boolean {
    return this.#wanted.ipWhite && this.#wanted.ipWhitePassword !== '';
  }

  /** Lets a visitor in who says the password (contract D14). @returns false when it is another, or there is none */
  letIn(address: string, password: string, now: number): boolean {
    const right = sameSecret(password, this.#wanted.ipWhitePassword);
    if (this.#wanted.ipWhitePassword === '' || !right) return false;
    (this.#letIn ??= new LetIn()).add(canonicalAddress(address) ?? address, now);
    return true;
  }

  /** Whether a visitor was let in by the password and may still come. */
  isLetIn(address: string, now: number): boolean {
    return this.#letIn?.has(canonicalAddress(address) ?? address, now) === true;
  }

  /** The list that turns a visitor away; undefined = he is let in. */
  turnedAwayBy(address: string, globalBlackList: AddressSet, now: number): ReturnType<typeof turnedAwayBy> {
    const ipWhite = this.#wanted.ipWhite && !this.isLetIn(address, now);
    return turnedAwayBy(address, { globalBlackList, ipWhite, whiteList: this.#lists.white, blackList: this.#lists.black });
  }

  /** Why its agent and its tunnels may not serve; "" = they may (contract D13). */
  blocked(now: number): '' | 'disabled' | 'expired' {
    if (!this.wanted.enabled) return 'disabled';
    return this.wanted.expiresAt !== null && now >= this.wanted.expiresAt ? 'expired' : '';
  }

  connected(session: AgentSession, now: number): void {
    this.session = session;
    this.#lastOnlineAt = now;
    this.#address = session.address;
    this.#lastAddress = session.address;
    this.#localAddress = session.info.localAddress;
    this.#version = session.info.version;
  }

  disconnected(now: number): void {
    this.session = undefined;
    this.#lastOnlineAt = now;
  }

  /** The open connections of its visitors, the oldest first. */
  connections(): ConnectionState[] {
    return Array.from(this.meter.open, ({ state }) => state);
  }

  /** Cuts a connection. @returns it as it was; undefined = there is none of that id */
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
    const { connections, refusals, rate, inlet, export: exported } = this.meter;
    return {
      connected: this.session !== undefined,
      address: this.#address, localAddress: this.#localAddress, version: this.#version,
      connections, refusals, rate, inletBytes: inlet, exportBytes: exported,
      lastOnlineAt: this.session ? now : this.#lastOnlineAt,
    };
  }
}

/** The lists by which a client's visitors are let in, made ready: no connection has to wait for that. */
interface VisitorLists {
  readonly white: AddressSet;
  readonly black: AddressSet;
}

/** Makes the lists of a new client ready. */
export async function visitorLists({ ipWhiteList, blackIpList }: WantedClient): Promise<VisitorLists> {
  return { white: await AddressSet.gradually(ipWhiteList), black: await AddressSet.gradually(blackIpList) };
}

function sameLines(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((line, index) => line === other[index]);
}

/** All clients, by id and by what an agent names itself with in its handshake. */
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

  /** The client that a visitor names by the digest of its key (contract 3.2), of those that let visitors in by a password. */
  byVisitorKey(digest: string): ClientEntry | undefined {
    return this.#byVisitorKey.get(digest);
  }

  /** What the visitors of all clients have open and have moved, together. */
  traffic(): Traffic {
    const sum = { connections: 0, rate: 0, inletBytes: 0, exportBytes: 0 };
    for (const { meter } of this.all()) {
      sum.connections += meter.connections;
      sum.rate = addBytes(sum.rate, meter.rate);
      sum.inletBytes = addBytes(sum.inletBytes, meter.inlet);
      sum.exportBytes = addBytes(sum.exportBytes, meter.export);
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

  /** Takes new settings; the key it had no longer leads to it. */
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

  #removeKeys({ wanted: { vkey, ipWhitePassword } }: ClientEntry): void {
    this.#byKeyId.delete(keyIdOf(vkey));
    if (ipWhitePassword !== '') this.#byVisitorKey.delete(visitorKeyOf(vkey));
  }
}
