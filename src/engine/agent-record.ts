import { Pace } from '../rules/pace.ts';
import { ControlBudget } from '../wire/control-budget.ts';
import { AgentHistory } from './agent-history.ts';

/** Sessions of one client: each costs log lines and events, and closes the connections of the previous session. */
const SESSIONS = { atOnce: 60, perSecond: 1 } as const;

/** How long new sessions of a client are refused after its agent violated the protocol, in ms. */
const BROKEN_MS = 5000;

/** What is known of a client's agent that has tried to connect since the server started. */
export class AgentRecord {
  readonly history = new AgentHistory();
  /** Shared by all its sessions: a new session does not reset it. */
  readonly controlBudget = new ControlBudget();
  readonly #pace = new Pace(SESSIONS);
  /** When a session last ended because the agent broke the protocol. */
  #brokenAt = Number.NEGATIVE_INFINITY;

  /** Called before a session begins. @returns false = sessions begin too often */
  maySession(now: number): boolean {
    // The clock may be set back.
    if (now >= this.#brokenAt && now - this.#brokenAt < BROKEN_MS) return false;
    return this.#pace.begin(now);
  }

  /** Called when a session ended because the agent violated the protocol. */
  sessionBroken(now: number): void {
    this.#brokenAt = now;
  }
}
