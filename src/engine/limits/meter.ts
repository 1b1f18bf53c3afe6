import { addBytes, byteCount } from '../../rules/byte-count.ts';
import { NO_TRAFFIC } from '../../rules/traffic-sum.ts';
import { RefusalTally } from './refusal-tally.ts';
import type { CountedBytes, RefusalCause, Refusals, Traffic } from '../face.ts';

/** Totals as stored, in bytes. */
export interface StoredBytes {
  readonly inletBytes: number;
  readonly exportBytes: number;
}

/** The totals of a new record. */
export const NO_BYTES: StoredBytes = { inletBytes: 0, exportBytes: 0 };

/** Shared by all meters without refusals. */
const NO_REFUSALS: Refusals = Object.freeze({});

/** What a record is. */
type Owner = 'client' | 'tunnel' | 'host';

/** What a record without a meter has counted. @param stored what the store knew at boot */
export function keptBytes({ inletBytes, exportBytes }: StoredBytes): StoredBytes {
  return inletBytes === 0 && exportBytes === 0 ? NO_BYTES : { inletBytes: byteCount(inletBytes), exportBytes: byteCount(exportBytes) };
}

/** What a record has counted, which may have no meter yet. */
export function trafficOf(counted: Meter | StoredBytes): Traffic {
  return counted instanceof Meter ? counted.traffic : { ...NO_TRAFFIC, inletBytes: counted.inletBytes, exportBytes: counted.exportBytes };
}

/** The refused connections of a record, which may have no meter yet. */
export function refusalsOf(counted: Meter | StoredBytes): Refusals {
  return counted instanceof Meter ? counted.refusals : NO_REFUSALS;
}

/** Bytes and connections of one client, tunnel or host, made with its first visitor. Counting bytes costs an addition and a comparison. */
export class Meter {
  readonly owner: Owner;
  readonly id: number;
  /** Bytes from visitors since the client, tunnel or host was made or its traffic was reset. */
  inlet: number;
  /** Bytes to visitors since then. */
  export: number;
  #connections = 0;
  /** Bytes in the last whole second: from visitors, and to them. */
  #inletRate = 0;
  #exportRate = 0;
  /** Refused connections by cause; replaced, not changed, when one is counted, so a caller may keep it. */
  refusals: Refusals = NO_REFUSALS;
  #inletAtTick: number;
  #exportAtTick: number;
  #active = false;
  readonly #ticker: Ticker;

  /** @param stored what the store knew at boot, in bytes */
  constructor(ticker: Ticker, owner: Owner, id: number, stored: StoredBytes) {
    this.#ticker = ticker;
    this.owner = owner;
    this.id = id;
    this.inlet = byteCount(stored.inletBytes);
    this.export = byteCount(stored.exportBytes);
    this.#inletAtTick = this.inlet;
    this.#exportAtTick = this.export;
  }

  /** Bytes moved since the last tick or before it: the meter is watched. */
  get active(): boolean {
    return this.#active;
  }

  /** Bytes of both directions in the last whole second. */
  get rate(): number {
    return this.#inletRate + this.#exportRate;
  }

  /** Open visitor connections. */
  get connections(): number {
    return this.#connections;
  }

  set connections(count: number) {
    this.#connections = count;
    // Lists are sorted by it, and a connection may close without bytes.
    this.#ticker.mark(this.owner, this.id);
  }

  get traffic(): Traffic {
    return {
      connections: this.#connections,
      rate: this.rate,
      inletRate: this.#inletRate,
      exportRate: this.#exportRate,
      inletBytes: this.inlet,
      exportBytes: this.export,
    };
  }

  countInlet(bytes: number): void {
    this.inlet = addBytes(this.inlet, bytes);
    if (!this.#active) this.#activate();
  }

  countExport(bytes: number): void {
    this.export = addBytes(this.export, bytes);
    if (!this.#active) this.#activate();
  }

  /** Subtracts bytes from the totals. The rate stays as it is. */
  reset({ inletBytes, exportBytes }: CountedBytes): void {
    const [inlet, exported] = [this.inlet, this.export];
    this.inlet = byteCount(inlet - inletBytes);
    this.export = byteCount(exported - exportBytes);
    this.#inletAtTick -= inlet - this.inlet;
    this.#exportAtTick -= exported - this.export;
    this.#ticker.mark(this.owner, this.id);
  }

  countRefusal(cause: RefusalCause): void {
    this.refusals = { ...this.refusals, [cause]: (this.refusals[cause] ?? 0) + 1 };
    // Each refusal counts for a tunnel or host, and for its client.
    if (this.owner === 'client') this.#ticker.refusals.add(this.id, cause);
  }

  #activate(): void {
    this.#active = true;
    this.#ticker.watch(this);
  }

  /** Ends a second; false = nothing moved in it. */
  tick(): boolean {
    this.#inletRate = this.inlet - this.#inletAtTick;
    this.#exportRate = this.export - this.#exportAtTick;
    this.#inletAtTick = this.inlet;
    this.#exportAtTick = this.export;
    this.#active = this.rate > 0;
    return this.#active;
  }
}

/** The ids of changed records. */
type ChangedIds = Readonly<Record<Owner, Set<number>>>;

function nothingChanged(): ChangedIds {
  return { client: new Set(), tunnel: new Set(), host: new Set() };
}

/** The one clock of all meters: runs once a second and only while bytes move. */
export class Ticker {
  /** The refusals of all clients that are not stored yet. */
  readonly refusals = new RefusalTally();
  readonly #watched = new Set<Meter>();
  /** The ids of the records whose state changed since they were last taken. */
  #changed = nothingChanged();
  #timer: NodeJS.Timeout | undefined;

  watch(meter: Meter): void {
    this.#watched.add(meter);
    this.mark(meter.owner, meter.id);
    this.#timer ??= setInterval(() => this.tick(), 1000).unref();
  }

  /** Ends the second of every watched meter; those at rest are no longer watched. */
  tick(): void {
    for (const meter of this.#watched) {
      if (!meter.tick()) this.#watched.delete(meter);
    }
    if (this.#watched.size === 0) this.stop();
  }

  /** The records whose totals or state may have changed since the last call. */
  takeChanged(): ChangedIds {
    const taken = this.#changed;
    this.#changed = nothingChanged();
    for (const meter of this.#watched) {
      if (meter.active) this.mark(meter.owner, meter.id);
    }
    return taken;
  }

  /** Marks a record as changed. */
  mark(owner: Owner, id: number): void {
    this.#changed[owner].add(id);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
