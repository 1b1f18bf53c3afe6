import { ProtocolError } from '../../wire/frames.ts';
import type { Doubt } from '../../wire/standby-messages.ts';
import { BridgeSession, type SessionStart } from './bridge-session.ts';

const DOUBT: Doubt = { type: 'doubt' };

/** How the session of an agent in reserve begins. */
export interface StandbySessionStart extends SessionStart {
  readonly clientId: number;
  /** The session is over; called once, with whether that is the agent's fault. */
  readonly onGone: (session: StandbySession, atFault: boolean) => void;
}

/** The session of an agent that is connected to another server: it carries nothing, and is there to say that the other server does not answer. */
export class StandbySession extends BridgeSession {
  readonly #onGone: StandbySessionStart['onGone'];

  constructor(start: StandbySessionStart) {
    super({ ...start, log: start.log.child({ clientId: start.clientId }) }, 'standby');
    this.#onGone = start.onGone;
    this.log.info('standby connected');
  }

  /** The server that its agent is connected to seems not to answer. */
  doubt(): void {
    this.mux.sendControl(DOUBT);
  }

  protected override onOpen(): void {
    throw new ProtocolError('an agent opens no streams');
  }

  protected override onControl(): void {
    this.log.debug('the agent sent a control message that this server does not know');
  }

  protected override onGone(atFault: boolean): void {
    this.#onGone(this, atFault);
  }
}
