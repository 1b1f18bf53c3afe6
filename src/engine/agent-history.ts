import type { AgentSession } from './bridge/agent-session.ts';
import type { AgentSessionState, ClientState } from './face.ts';

/** How many sessions of a client are remembered. */
export const SESSIONS_KEPT = 10;

/** The sessions of a client's agent since the server started, as far as they are remembered. */
export class AgentHistory {
  /** Newest first; only the newest one may be open. */
  #sessions: readonly AgentSessionState[] = [];
  #localAddress = '';

  begin({ address, secure, info: { localAddress, version } }: AgentSession, now: number): void {
    this.#localAddress = localAddress;
    this.#sessions = [{ since: now, until: null, address, version, secure, end: null, endText: '' }, ...this.#sessions].slice(0, SESSIONS_KEPT);
  }

  end({ end, endText }: Pick<AgentSession, 'end' | 'endText'>, now: number): void {
    this.#sessions = this.#sessions.map((session) => session.until === null ? { ...session, until: now, end, endText } : session);
  }

  /** @see EngineFace.agentSessions */
  get sessions(): readonly AgentSessionState[] {
    return this.#sessions;
  }

  /** What is known of the agent. */
  state(now: number): Pick<ClientState, 'connected' | 'connectedSince' | 'secure' | 'end' | 'address' | 'localAddress' | 'version' | 'lastOnlineAt'> {
    const [last] = this.#sessions;
    const connected = last?.until === null;
    return {
      connected,
      connectedSince: connected ? last.since : null,
      secure: connected && last.secure,
      end: last?.end ?? null,
      address: last?.address ?? '',
      localAddress: this.#localAddress,
      version: last?.version ?? '',
      lastOnlineAt: connected ? now : last?.until ?? null,
    };
  }
}
