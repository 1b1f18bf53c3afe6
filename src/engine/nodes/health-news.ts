import type { HealthMessage } from '../../wire/health.ts';
import type { NodeLink } from './node-link.ts';

/** How often reports are sent to a node, in ms, and what those of a time may cost in bytes: one agent can make more than a session may carry. */
const TICK_MS = 50;
const TICK_COST = 64 * 1024;
/** The cost of a report, and of each target in it. */
const COST = { report: 1024, target: 512 } as const;
/** The most reports of a client that wait as they are. Instead of more, the node gets the health that the record has later. */
const MOST_WAITING = 64;

/** A tunnel or host with checked targets. */
export interface CheckedRecord extends Pick<HealthMessage, 'of' | 'id'> {
  readonly clientId: number;
}

/** Where the health of tunnels and hosts is found. */
export interface HealthNewsParts {
  /** @param of whether a client counts */
  checkedRecords(of: (clientId: number) => boolean): Iterable<CheckedRecord>;
  /** What the agent would report about one of them now. */
  healthReports(record: Pick<HealthMessage, 'of' | 'id'>): Iterable<HealthMessage>;
}

/** What reports need of the session with a node. */
type Taking = Pick<NodeLink, 'peer' | 'send' | 'whenTaken'>;

/** The reports of a client that wait for a node. */
interface Waiting {
  reports: HealthMessage[];
  /** Records of which the node gets everything: "tunnel 5". */
  readonly whole: Set<string>;
}

/** Passes the reports of agents on the health of their targets to one other node, clients in round-robin order, and not faster than the session carries. */
class Sender {
  readonly #link: Taking;
  readonly #parts: HealthNewsParts;
  readonly #waiting = new Map<number, Waiting>();
  #timer: NodeJS.Timeout | undefined;
  /** The next ones are sent soon, or when the session has taken the last ones. */
  #sending = false;

  constructor(link: Taking, parts: HealthNewsParts) {
    this.#link = link;
    this.#parts = parts;
  }

  /** Passes a report on. */
  add(clientId: number, report: HealthMessage): void {
    const { reports, whole } = this.#of(clientId);
    if (reports.length < MOST_WAITING && !whole.has(nameOf(report))) reports.push(report);
    else this.addWhole({ ...report, clientId });
  }

  /** Passes everything on that is known about a record. */
  addWhole({ clientId, ...record }: CheckedRecord): void {
    const own = this.#of(clientId);
    own.reports = own.reports.filter((other) => nameOf(other) !== nameOf(record));
    own.whole.add(nameOf(record));
  }

  #of(clientId: number): Waiting {
    const own = this.#waiting.get(clientId) ?? { reports: [], whole: new Set<string>() };
    this.#waiting.set(clientId, own);
    if (!this.#sending) this.#sendAfter(0);
    return own;
  }

  #sendAfter(ms: number): void {
    this.#sending = true;
    this.#timer = setTimeout(() => this.#send(), ms).unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#waiting.clear();
  }

  #send(): void {
    let cost = 0;
    for (const [clientId, own] of this.#waiting) {
      if (cost >= TICK_COST) break;
      // Its next report follows those of the others.
      this.#waiting.delete(clientId);
      const report = this.#next(own);
      if (own.reports.length > 0 || own.whole.size > 0) this.#waiting.set(clientId, own);
      if (!report) continue;
      cost += COST.report + report.targets.length * COST.target;
      this.#link.send({ type: 'health', clientId, report });
    }
    // Also when nothing waits, so that what comes next does not follow at once.
    this.#sending = cost > 0;
    // A node that is busy takes them later: a session ends if too much waits for it.
    if (cost > 0) this.#link.whenTaken(() => this.#sendAfter(TICK_MS));
  }

  #next(own: Waiting): HealthMessage | undefined {
    const [record] = own.reports.length === 0 ? own.whole : [];
    if (record !== undefined) {
      own.whole.delete(record);
      const [kind, id] = record.split(' ');
      own.reports.push(...this.#parts.healthReports({ of: kind === 'host' ? kind : 'tunnel', id: Number(id) }));
    }
    return own.reports.shift();
  }
}

/** Passes the reports of agents that are connected here to the other nodes. */
export class HealthNews {
  readonly #parts: HealthNewsParts;
  readonly #isHome: (clientId: number) => boolean;
  readonly #senders = new Map<string, Sender>();

  /** @param isHome whether a client's home is here */
  constructor(parts: HealthNewsParts, isHome: (clientId: number) => boolean) {
    this.#parts = parts;
    this.#isHome = isHome;
  }

  /** A node can be reached from now on: it gets everything. */
  up(link: Taking): void {
    const sender = new Sender(link, this.#parts);
    this.#senders.set(link.peer.name, sender);
    for (const record of this.#parts.checkedRecords(this.#isHome)) sender.addWhole(record);
  }

  /** It can't be reached any more. */
  down(node: string): void {
    this.#senders.get(node)?.stop();
    this.#senders.delete(node);
  }

  /** @param report about a record of the client, and its own targets only */
  add(clientId: number, report: HealthMessage): void {
    for (const sender of this.#senders.values()) sender.add(clientId, report);
  }

  stop(): void {
    for (const sender of this.#senders.values()) sender.stop();
  }
}

function nameOf({ of, id }: Pick<HealthMessage, 'of' | 'id'>): string {
  return `${of} ${id}`;
}
