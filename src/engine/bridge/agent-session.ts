import type { HealthMessage } from '../../wire/health.ts';
import type { Stream } from '../../wire/mux.ts';
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
  /** The session is over; called once. */
  readonly onGone: (session: AgentSession) => void;
}

/** Bytes that went over direct paths: from visitors, and to them. */
export interface DirectBytes {
  readonly inlet: number;
  readonly exported: number;
}

/** One connected agent. */
export class AgentSession extends BridgeSession {
  readonly clientId: number;
  readonly info: AgentInfo;
  readonly #onTraffic: AgentSessionStart['onTraffic'];
  readonly #onHealth: AgentSessionStart['onHealth'];
  readonly #onGone: AgentSessionStart['onGone'];
  /** No new streams: the agent is about to stop. */
  #leaving = false;

  constructor(start: AgentSessionStart) {
    super({ ...start, log: start.log.child({ clientId: start.clientId }) }, 'agent');
    this.clientId = start.clientId;
    this.info = start.info;
    this.#onTraffic = start.onTraffic;
    this.#onHealth = start.onHealth;
    this.#onGone = start.onGone;
    this.log.info({ version: start.info.version, tls: this.secure }, 'agent connected');
  }

  /** Opens a stream at once, without waiting for the agent; undefined = the session ends or has too many streams. */
  open(payload: Buffer): Stream | undefined {
    return this.#leaving || this.streamCount >= MAX_STREAMS ? undefined : this.mux.open(payload);
  }

  /** Direct paths to a tunnel lead to other targets from their next connection on. */
  retarget(tunnelId: number, targets: readonly string[]): void {
    const message: ServerMessage = { type: 'targets', tunnelId, targets: [...targets] };
    this.mux.sendControl(message);
  }

  /** No tunnel mode lets agents open streams. */
  protected override onOpen(stream: Stream): void {
    stream.reset();
  }

  protected override onControl(message: unknown): void {
    const { data } = agentMessageSchema.safeParse(message);
    if (data?.type === 'traffic') this.#onTraffic(data.tunnelId, data);
    else if (data?.type === 'health') this.#onHealth(data);
    else if (data?.type === 'drain') {
      this.#leaving = true;
      this.log.info('the agent is about to stop: its open connections may end, new ones are refused');
    } else this.log.debug('the agent sent a control message that this server does not know');
  }

  protected override onGone(): void {
    this.#onGone(this);
  }
}
