import type { HealthMessage } from '../../wire/health.ts';
import { type Declaration, DECLARED_AT_ONCE } from '../../wire/declared.ts';
import { ProtocolError } from '../../wire/frames.ts';
import type { Stream } from '../../wire/mux.ts';
import { OVERVIEW_MS, type OverviewPart, overviewParts, type OverviewRow } from '../../wire/overview.ts';
import type { AgentRecords } from '../face.ts';
import type { DirectBytes } from '../limits/direct-traffic.ts';
import { type AgentInfo, agentMessageSchema, type ServerMessage } from '../../wire/session-messages.ts';
import { BridgeSession, MAX_STREAMS, type SessionStart } from './bridge-session.ts';

/** How an agent's session begins. */
export interface AgentSessionStart extends SessionStart {
  readonly clientId: number;
  readonly info: AgentInfo;
  /** Direct paths of a tunnel carried so many bytes, the agent says. */
  readonly onTraffic: (tunnelId: number, bytes: DirectBytes) => void;
  /** What the agent's checks of targets have come to. */
  readonly onHealth: (message: HealthMessage) => void;
  /** Its client's tunnels and hosts. */
  readonly overview: () => Iterable<OverviewRow>;
  /** What it brings along is kept there; undefined = it doesn't run in configuration-file mode. */
  readonly records: AgentRecords | undefined;
  /** The session is over; called once. */
  readonly onGone: (session: AgentSession) => void;
}

/** One connected agent. */
export class AgentSession extends BridgeSession {
  readonly clientId: number;
  readonly info: AgentInfo;
  readonly #onTraffic: AgentSessionStart['onTraffic'];
  readonly #onHealth: AgentSessionStart['onHealth'];
  readonly #onGone: AgentSessionStart['onGone'];
  readonly #records: AgentRecords | undefined;
  readonly #overview: AgentSessionStart['overview'];
  #overviewAt = Number.NEGATIVE_INFINITY;
  /** Parts of an overview are still to be sent. */
  #overviewing = false;
  /** What it has brought along, by kind and name: "tunnel 5". */
  readonly #brought = new Map<string, string>();
  /** Declarations that aren't answered yet. */
  #declaring = 0;
  /** No new streams: the agent is about to stop. */
  #leaving = false;
  #gone = false;

  constructor(start: AgentSessionStart) {
    super({ ...start, log: start.log.child({ clientId: start.clientId }) }, 'agent');
    this.clientId = start.clientId;
    this.info = start.info;
    this.#onTraffic = start.onTraffic;
    this.#onHealth = start.onHealth;
    this.#onGone = start.onGone;
    this.#records = start.records;
    this.#overview = start.overview;
    this.log.info({ version: start.info.version, tls: this.secure }, 'agent connected');
  }

  /**
   * Opens a stream at once, without waiting for the agent; undefined = the session ends or has too many streams.
   * @param dataFollows as for `Opener.open`
   * @param credit as for `Opener.open`. An agent of an older version takes a whole window whatever the payload says
   */
  open(payload: Buffer, dataFollows = false, credit?: number): Stream | undefined {
    return this.#leaving || this.streamCount >= MAX_STREAMS ? undefined : this.mux.open(payload, dataFollows, this.info.credit ? credit : undefined);
  }

  /** Direct paths to a tunnel lead to other targets from their next connection on. */
  retarget(tunnelId: number, targets: readonly string[]): void {
    const message: ServerMessage = { type: 'targets', tunnelId, targets: [...targets] };
    this.mux.sendControl(message);
  }

  /** No tunnel mode lets agents open streams, and none ever did. */
  protected override onOpen(): void {
    throw new ProtocolError('an agent opens no streams');
  }

  protected override onControl(message: unknown): void {
    const { data } = agentMessageSchema.safeParse(message);
    if (data?.type === 'traffic') this.#onTraffic(data.tunnelId, data);
    else if (data?.type === 'health') this.#takeHealth(data);
    else if (data?.type === 'drain') {
      if (!this.#leaving) this.log.info('the agent is about to stop: its open connections may end, new ones are refused');
      this.#leaving = true;
    } else if (data?.type === 'overview') this.#sendOverview();
    else if (this.#records && (data?.type === 'tunnel' || data?.type === 'host' || data?.type === 'withdraw')) {
      void this.#declare(this.#records, data);
    } else this.log.debug('the agent sent a control message that this server does not know');
  }

  /** It costs a look at each of them, so not all the time, and not before the agent has read what it asked for before. */
  #sendOverview(): void {
    const now = performance.now();
    if (this.#overviewing || now - this.#overviewAt < OVERVIEW_MS) return;
    this.#overviewAt = now;
    this.#overviewing = true;
    this.#sendRows(overviewParts(this.#overview()));
  }

  #sendRows(parts: Iterator<OverviewPart, undefined>): void {
    const part = parts.next();
    this.#overviewing = part.done !== true;
    if (part.done === true) return;
    const message: ServerMessage = part.value;
    this.mux.sendControl(message);
    this.mux.whenTaken(() => this.#sendRows(parts));
  }

  async #declare(records: AgentRecords, declaration: Declaration): Promise<void> {
    if (this.#declaring >= DECLARED_AT_ONCE * 2) {
      this.close('too-much-declared');
      return;
    }
    this.#declaring++;
    const { type, name } = declaration;
    const kind = type === 'withdraw' ? declaration.kind : type;
    const outcome = type === 'withdraw' ? await records.withdraw(kind, name)
      : await records.declare(type === 'tunnel' ? { kind: type, name, tunnel: declaration.tunnel } : { kind: type, name, host: declaration.host });
    this.#declaring--;
    if (outcome.id !== 0) this.#brought.set(`${kind} ${name}`, `${kind} ${outcome.id}`);
    else if (type === 'withdraw' && outcome.error === '') this.#brought.delete(`${kind} ${name}`);
    const answer: ServerMessage = { type: 'declared', kind, name, ...outcome };
    if (!this.#gone) this.mux.sendControl(answer);
  }

  /** Of what it didn't bring along it has nothing to say. */
  #takeHealth(message: HealthMessage): void {
    if (Array.from(this.#brought.values()).includes(`${message.of} ${message.id}`)) this.#onHealth(message);
  }

  protected override onGone(): void {
    this.#gone = true;
    this.#records?.close();
    this.#onGone(this);
  }
}
