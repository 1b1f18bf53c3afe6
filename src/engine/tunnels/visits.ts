import { Pace } from '../../rules/pace.ts';
import type { Reason } from '../bridge/reasons.ts';
import type { VisitedTunnel, VisitorSession } from '../bridge/visitor-session.ts';
import type { VisitorState } from '../face.ts';

/** Maximum visitors of one tunnel: limits the memory that a visitor with the password can make the server use. */
const MAX_VISITS = 1000;
/** The rate of new sessions of visitors: all may reconnect at the same time after an outage. */
const BEGINNINGS = { atOnce: 2 * MAX_VISITS, perSecond: 20 } as const;

/** The connected visitors of one tunnel. */
export class Visits {
  readonly #open = new Set<VisitorSession>();
  readonly #pace = new Pace(BEGINNINGS);

  get full(): boolean {
    return this.#open.size >= MAX_VISITS;
  }

  /** Called before a visitor's session begins. @param now ms @returns false = sessions begin too often */
  mayBegin(now: number): boolean {
    return this.#pace.begin(now);
  }

  get states(): readonly VisitorState[] {
    return Array.from(this.#open, ({ address, since, path }) => ({ address, since, path }));
  }

  enter(session: VisitorSession): void {
    this.#open.add(session);
  }

  leave(session: VisitorSession): void {
    this.#open.delete(session);
  }

  /** The agent may have connected or disconnected, or the transport of the client may have changed. */
  follow({ online, crypt, compress }: VisitedTunnel['client']): void {
    for (const session of this.#open) {
      if (crypt && !session.secure) session.close('transport-changed');
      else {
        session.compress(compress);
        session.tell({ type: 'agent', online });
      }
    }
  }

  /** Ends the sessions of all visitors, with their connections. */
  closeAll(reason: Reason, text?: string): void {
    for (const session of this.#open) session.close(reason, text);
  }
}
