import { type AddressSet, addressSet, turnedAwayBy } from '../rules/ip-access.ts';
import { keyIdOf } from '../wire/handshake.ts';
import type { AgentSession } from './bridge/agent-session.ts';
import type { ClientState, WantedClient } from './face.ts';
import type { Account } from './limits/account.ts';
import type { TunnelRunner } from './tunnels/tunnel-runner.ts';

/** One client: what is wanted of it, its agent while that is connected, and what was last seen of it. */
export class ClientEntry {
  #wanted: WantedClient;
  /** The lists of `wanted`, ready to be asked. */
  #whiteList: AddressSet;
  #blackList: AddressSet;
  readonly meter: Account;
  readonly tunnels = new Set<TunnelRunner>();
  session: AgentSession | undefined;
  /** It was cut off already because it may not serve. */
  suspended = false;
  #lastOnlineAt: number | null = null;
  #address = '';
  #localAddress = '';
  #version = '';

  constructor(wanted: WantedClient, meter: Account) {
    this.#wanted = wanted;
    this.#whiteList = addressSet(wanted.ipWhiteList);
    this.#blackList = addressSet(wanted.blackIpList);
    this.meter = meter;
  }

  get wanted(): WantedClient {
    return this.#wanted;
  }

  /** Takes new settings. Lists that changed are made ready, which no connection has to wait for then. */
  configure(wanted: WantedClient): void {
    const before = this.#wanted;
    this.#wanted = wanted;
    if (!sameLines(wanted.ipWhiteList, before.ipWhiteList)) this.#whiteList = addressSet(wanted.ipWhiteList);
    if (!sameLines(wanted.blackIpList, before.blackIpList)) this.#blackList = addressSet(wanted.blackIpList);
    this.meter.setLimits(wanted);
  }

  /** The list that turns a visitor away; undefined = he is let in. */
  turnedAwayBy(address: string, globalBlackList: AddressSet): ReturnType<typeof turnedAwayBy> {
    return turnedAwayBy(address, { globalBlackList, ipWhite: this.#wanted.ipWhite, whiteList: this.#whiteList, blackList: this.#blackList });
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
    this.#localAddress = session.info.localAddress;
    this.#version = session.info.version;
  }

  disconnected(now: number): void {
    this.session = undefined;
    this.#lastOnlineAt = now;
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

function sameLines(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((line, index) => line === other[index]);
}

/** All clients, by id and by what an agent names itself with in its handshake. */
export class Clients {
  readonly #byId = new Map<number, ClientEntry>();
  readonly #byKeyId = new Map<string, ClientEntry>();

  get(id: number): ClientEntry | undefined {
    return this.#byId.get(id);
  }

  byKeyId(keyId: string): ClientEntry | undefined {
    return this.#byKeyId.get(keyId);
  }

  all(): IterableIterator<ClientEntry> {
    return this.#byId.values();
  }

  add(entry: ClientEntry): void {
    this.#byId.set(entry.wanted.id, entry);
    this.#byKeyId.set(keyIdOf(entry.wanted.vkey), entry);
  }

  /** Takes new settings; the key it had no longer leads to it. */
  update(entry: ClientEntry, wanted: WantedClient): void {
    if (wanted.vkey !== entry.wanted.vkey) {
      this.#byKeyId.delete(keyIdOf(entry.wanted.vkey));
      this.#byKeyId.set(keyIdOf(wanted.vkey), entry);
    }
    entry.configure(wanted);
  }

  remove(entry: ClientEntry): void {
    this.#byId.delete(entry.wanted.id);
    this.#byKeyId.delete(keyIdOf(entry.wanted.vkey));
  }
}
