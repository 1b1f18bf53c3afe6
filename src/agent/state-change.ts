import type { Logger } from 'pino';

/**
 * A change of an agent's or visitor's state. It stands in the field `state` of the log's entry whose text tells people of it; with `--json`
 * it is a line of its own on stdout.
 */
export type StateChange =
  | { readonly event: 'connected'; readonly server: string; readonly as: string }
  /** There is no session: it was lost, or never came to be. */
  | { readonly event: 'disconnected'; readonly server: string; readonly reason: string; readonly retryMs: number }
  /** The agent or visitor ends. */
  | { readonly event: 'stopped' }
  /** The configuration file was changed so that a session, or a visitor, has to begin anew. reason: what is another. */
  | { readonly event: 'restarted'; readonly reason: string }
  /** The server has made of an entry of the configuration file what it says; port 0 = it has none. */
  | { readonly event: 'established'; readonly kind: 'tunnel' | 'host'; readonly name: string; readonly id: number; readonly port: number }
  /** The server won't. id: that of the record as it was before; 0 = there is none. */
  | { readonly event: 'refused'; readonly kind: 'tunnel' | 'host'; readonly name: string; readonly id: number; readonly error: string }
  | { readonly event: 'withdrawn'; readonly kind: 'tunnel' | 'host'; readonly name: string }
  /** The configuration file was read, again or for the first time. */
  | { readonly event: 'config'; readonly file: string; readonly problems: readonly string[] }
  /** A target of an entry went out of turn, or is back. */
  | { readonly event: 'health'; readonly entry: string; readonly target: string; readonly healthy: boolean; readonly error: string; readonly left: number }
  /** So many more of them than were told one by one; what they came to. */
  | { readonly event: 'more health'; readonly changes: number; readonly out: number; readonly targets: number }
  /** A visitor's local port. */
  | { readonly event: 'listening'; readonly address: string }
  /** It can't be opened. */
  | { readonly event: 'not listening'; readonly error: string; readonly retryMs: number }
  /** By which way a visitor's new connections go. */
  | { readonly event: 'path'; readonly path: 'relay' | 'direct' };

/** Tells people and machines of a change of state, in one line. */
export function tell(log: Logger, level: 'info' | 'warn', state: StateChange, text: string): void {
  log[level]({ state }, text);
}
