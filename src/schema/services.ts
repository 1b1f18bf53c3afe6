import type { Logger } from 'pino';
import type { EngineFace } from '../engine/face.ts';
import type { HostPorts } from '../rules/public-address.ts';
import type { Attempts } from '../rules/attempts.ts';
import type { Store } from '../store/store.ts';
import { tellOfGuesses } from './audit/guesses.ts';
import { Changes } from './changes.ts';
import { applyToEngine } from './engine-changes.ts';
import { Live } from './subscriptions/live.ts';
import { OperationSlots, searchLimits } from './operation-slots.ts';
import { Turns } from './turns.ts';
import { Writes } from './writes.ts';

/** What the schema has to know of the settings. */
export interface SchemaSettings {
  /** The program's version. */
  readonly version: string;
  /** Where agents connect to: the ports in use, also when a setting was 0. `fingerprint`: SHA-256 of the TLS certificate, 64 hex digits. */
  readonly bridge: { readonly port: number; readonly tls: { readonly port: number; readonly fingerprint: string } };
  /** Where visitors reach hosts: the ports in use; 0 = there is none. */
  readonly hostPorts: HostPorts;
  readonly allowLocalProxy: boolean;
  /** No user may have this name: the login would never reach them. */
  readonly adminUsername: string;
  /** The URL at which the API is reached from outside; "" = not known. */
  readonly publicUrl: string;
}

/** What the schema is put together from. */
export interface ServiceParts {
  readonly store: Store;
  readonly engine: EngineFace;
  readonly settings: SchemaSettings;
  /** Slows down guessing; the engine's too. */
  readonly attempts: Attempts;
  readonly log: Logger;
  /** Saves what the engine has to say, unless that was done within the last second. */
  readonly freshState: () => Promise<void>;
  /** ms since the epoch */
  readonly now: () => number;
}

/** What lives as long as the server. */
export interface Services extends ServiceParts {
  readonly changes: Changes;
  /** The way of every change to the store. */
  readonly writes: Writes;
  /** Tells subscribers what happens. */
  readonly live: Live;
  /** Divides the event loop between operations. */
  readonly turns: Turns;
  /** Holds callers to a number of operations at a time. */
  readonly slots: OperationSlots;
  /** Holds callers to one search at a time. */
  readonly searches: OperationSlots;
}

/** Connects what listens to changes: the engine and the subscribers. */
export function createServices(parts: ServiceParts): Services {
  const { store, engine, log, now } = parts;
  const changes = new Changes();
  changes.subscribe(applyToEngine(engine));
  const live = new Live({ store, engine, changes, log, now });
  const writes = new Writes({ store, changes, audited: (entry) => live.audited(entry), now });
  tellOfGuesses({ ...parts, writes });
  return { ...parts, changes, writes, live, turns: new Turns(), slots: new OperationSlots(), searches: new OperationSlots(searchLimits) };
}
