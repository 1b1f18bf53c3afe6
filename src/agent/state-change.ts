import type { Logger } from 'pino';

/**
 * A change of an agent's or visitor's state. It is in the field `state` of the log entry whose text describes it; with `--json`
 * it is a separate line on stdout.
 */
export type StateChange =
  | { readonly event: 'connected'; readonly server: string; readonly as: string }
  /** There is no session: it was lost or could not be opened. */
  | { readonly event: 'disconnected'; readonly server: string; readonly reason: string; readonly retryMs: number }
  /** The agent or visitor ends. */
  | { readonly event: 'stopped' }
  /** A change of the configuration file restarts a session or a visitor. reason: the changed setting. */
  | { readonly event: 'restarted'; readonly reason: string }
  /** The server has created or changed the record of an entry of the configuration file; port 0 = it has none. */
  | { readonly event: 'established'; readonly kind: 'tunnel' | 'host'; readonly name: string; readonly id: number; readonly port: number }
  /** The server refuses the entry. id: its record, which stays unchanged; 0 = none. */
  | { readonly event: 'refused'; readonly kind: 'tunnel' | 'host'; readonly name: string; readonly id: number; readonly error: string }
  | { readonly event: 'withdrawn'; readonly kind: 'tunnel' | 'host'; readonly name: string }
  /** The configuration file was read, again or for the first time. */
  | { readonly event: 'config'; readonly file: string; readonly problems: readonly string[] }
  /** A target of an entry was taken out of rotation, or is back. */
  | { readonly event: 'health'; readonly entry: string; readonly target: string; readonly healthy: boolean; readonly error: string; readonly left: number }
  /** A summary of the health changes that were not logged separately. */
  | { readonly event: 'more health'; readonly changes: number; readonly out: number; readonly targets: number }
  /** A visitor's local port. */
  | { readonly event: 'listening'; readonly address: string }
  /** The port can't be opened. */
  | { readonly event: 'not listening'; readonly error: string; readonly retryMs: number }
  /** The path of a visitor's new connections. */
  | { readonly event: 'path'; readonly path: 'relay' | 'direct' };

/** Logs a change of state, as text and as data, in one line. */
export function logState(log: Logger, level: 'info' | 'warn', state: StateChange, text: string): void {
  log[level]({ state }, text);
}
