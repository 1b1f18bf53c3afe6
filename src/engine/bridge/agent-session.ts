import type { HealthMessage } from '../../wire/health.ts';
import { type Declaration, readUnreadable } from '../../wire/declaration.ts';
import { DECLARED_AT_ONCE } from '../../wire/declared.ts';
import { ProtocolError } from '../../wire/frames.ts';
import type { Stream } from '../../wire/mux.ts';
import { OVERVIEW_MS, type OverviewPart, overviewParts, type OverviewRow } from '../../wire/overview.ts';
import type { AgentRecords, DeclaredKind } from '../face.ts';
import type { DirectBytes } from '../limits/direct-traffic.ts';
import { type AgentInfo, agentMessageSchema } from '../../wire/agent-messages.ts';
import type { ServerMessage } from '../../wire/session-messages.ts';
import { AnswerWatch } from './answer-watch.ts';
import { BridgeSession, MAX_STREAMS, type SessionStart } from './bridge-session.ts';

/** How an agent's session begins. */
export interface AgentSessionStart extends SessionStart {
  readonly clientId: number;
  readonly info: AgentInfo;
  /** Bytes that direct paths of a tunnel carried, as the agent reports them. */
  readonly onTraffic: (tunnelId: number, bytes: DirectBytes) => void;
  /** The results of the agent's checks of targets. */
  readonly onHealth: (message: HealthMessage) => void;
  /** Its client's tunnels and hosts. */
  readonly overview: () => Iterable<OverviewRow>;
  /** The records of the entries that it declares; undefined = it doesn't run in configuration-file mode. */
  readonly records: AgentRecords | undefined;
  /** The agent answers neither to a stream nor to a ping; undefined = there is no other server that it could be asked by. */
  readonly onDoubt: (() => void) | undefined;
  /** The agent ends, or has moved to another server: it takes no new streams. */
  readonly onLeaving: (session: AgentSession) => void;
  /** The session is over; called once, with whether that is the agent's fault, as for `MuxHandlers.onClose`. */
  readonly onGone: (session: AgentSession, atFault: boolean) => void;
}

/** One connected agent. */
export class AgentSession extends BridgeSession {
  readonly clientId: number;
  readonly info: AgentInfo;
  readonly #onTraffic: AgentSessionStart['onTraffic'];
  readonly #onHealth: AgentSessionStart['onHealth'];
  readonly #onLeaving: AgentSessionStart['onLeaving'];
  readonly #onGone: AgentSessionStart['onGone'];
  readonly #records: AgentRecords | undefined;
  readonly #overview: AgentSessionStart['overview'];
  readonly #watch: AnswerWatch | undefined;
  #overviewAt = Number.NEGATIVE_INFINITY;
  /** An overview is being sent. */
  #overviewing = false;
  /** An overview was requested too soon after the last one, and is sent when this timer fires. */
  #overviewTimer: NodeJS.Timeout | undefined;
  /** The records that the agent has declared, by kind and name of their entries: "tunnel ssh". */
  readonly #declared = new Map<string, { readonly kind: DeclaredKind; readonly id: number; readonly port: number }>();
  /** Declarations that aren't answered yet. */
  #declaring = 0;
  /** The log already warns that the agent sends unreadable declarations. */
  #warned = false;
  /** No new streams: the agent is shutting down. */
  #leaving = false;
  #gone = false;

  constructor(start: AgentSessionStart) {
    super({ ...start, log: start.log.child({ clientId: start.clientId }) }, 'agent');
    this.clientId = start.clientId;
    this.info = start.info;
    this.#onTraffic = start.onTraffic;
    this.#onHealth = start.onHealth;
    this.#onLeaving = start.onLeaving;
    this.#onGone = start.onGone;
    this.#records = start.records;
    this.#overview = start.overview;
    this.#watch = start.onDoubt && start.info.answersPings ? new AnswerWatch(this.mux, start.onDoubt) : undefined;
    this.log.info({ version: start.info.version, tls: this.secure }, 'agent connected');
  }

  /**
   * Opens a stream without waiting for the agent; undefined = the session is ending or has too many streams.
   * @param dataFollows as for `Opener.open`
   * @param credit as for `Opener.open`. An agent of an older version takes a whole window and ignores the payload's credit
   */
  open(payload: Buffer, dataFollows = false, credit?: number): Stream | undefined {
    this.#watch?.asked();
    return this.#leaving || this.streamCount >= MAX_STREAMS ? undefined : this.mux.open(payload, dataFollows, this.info.credit ? credit : undefined);
  }

  /** The agent said that it ends. */
  get leaving(): boolean {
    return this.#leaving;
  }

  /** Sets the targets of a tunnel's direct paths, from their next connection on. */
  retarget(tunnelId: number, targets: readonly string[]): void {
    const message: ServerMessage = { type: 'targets', tunnelId, targets: [...targets] };
    this.mux.sendControl(message);
  }

  /** Agents have never been allowed to open streams, in any tunnel mode. */
  protected override onOpen(): void {
    throw new ProtocolError('an agent opens no streams');
  }

  protected override onControl(message: unknown): void {
    const { data } = agentMessageSchema.safeParse(message);
    if (data?.type === 'traffic') this.#onTraffic(data.tunnelId, data);
    else if (data?.type === 'pong') return;
    else if (data?.type === 'health') this.#takeHealth(data);
    else if (data?.type === 'drain') {
      if (this.#leaving) return;
      this.log.info('the agent takes no new connections: it is shutting down, or has moved to another server');
      this.#leaving = true;
      this.#onLeaving(this);
    } else if (data?.type === 'overview') this.#sendOverview();
    else if (this.#records && (data?.type === 'tunnel' || data?.type === 'host' || data?.type === 'withdraw')) {
      void this.#declare(this.#records, data);
    } else this.#takeUnreadable(message);
  }

  /** Answers an unreadable declaration, so that the agent reports it and tries again; other unknown messages are ignored. */
  #takeUnreadable(message: unknown): void {
    const unreadable = this.#records && readUnreadable(message);
    if (!unreadable) {
      this.log.debug('the agent sent a control message that this server does not know');
      return;
    }
    const { problem, entry } = unreadable;
    // One warning per session: an agent of another version may send a thousand such declarations.
    this.log[this.#warned ? 'debug' : 'warn'](
      { version: this.info.version, entry, problem },
      'the agent declares an entry that this server cannot read; it may have another version',
    );
    this.#warned = true;
    if (!entry) return;
    const { id, port } = this.#declared.get(`${entry.kind} ${entry.name}`) ?? { id: 0, port: 0 };
    const answer: ServerMessage = {
      type: 'declared',
      ...entry,
      id,
      port,
      error: `the server cannot read the entry, since it may have another version than the agent: ${problem}`,
    };
    this.mux.sendControl(answer);
  }

  /**
   * Sends an overview, unless one is being sent: that one answers both requests. An overview costs a pass over all tunnels and hosts, so a request that
   * comes too soon after the last one is answered later.
   */
  #sendOverview(): void {
    if (this.#overviewing || this.#overviewTimer) return;
    const early = this.#overviewAt + OVERVIEW_MS - performance.now();
    if (early > 0) {
      this.#overviewTimer = setTimeout(() => {
        this.#overviewTimer = undefined;
        this.#beginOverview();
      }, early);
    } else this.#beginOverview();
  }

  #beginOverview(): void {
    this.#overviewAt = performance.now();
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
    const outcome = type === 'withdraw'
      ? await records.withdraw(kind, name)
      : await records.declare(type === 'tunnel' ? { kind: type, name, tunnel: declaration.tunnel } : { kind: type, name, host: declaration.host });
    this.#declaring--;
    if (outcome.id !== 0) this.#declared.set(`${kind} ${name}`, { kind, id: outcome.id, port: outcome.port });
    else if (type === 'withdraw' && outcome.error === '') this.#declared.delete(`${kind} ${name}`);
    const answer: ServerMessage = { type: 'declared', kind, name, ...outcome };
    if (!this.#gone) this.mux.sendControl(answer);
  }

  /** An agent may report only on records that it has declared. */
  #takeHealth(message: HealthMessage): void {
    if (Array.from(this.#declared.values()).some(({ kind, id }) => kind === message.of && id === message.id)) this.#onHealth(message);
  }

  protected override onGone(atFault: boolean): void {
    this.#gone = true;
    clearTimeout(this.#overviewTimer);
    this.#watch?.stop();
    this.#records?.close();
    this.#onGone(this, atFault);
  }
}
