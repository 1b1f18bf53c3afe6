import type { Logger } from 'pino';
import type { EngineFace } from '../engine/face.ts';
import type { PortRange } from '../rules/port-range.ts';
import type { HostPorts } from '../rules/public-address.ts';
import type { ApiPlace } from '../rules/enrolment.ts';
import type { Attempts } from '../rules/attempts.ts';
import type { Store } from '../store/store.ts';
import { tellOfGuesses } from './writes/guesses.ts';
import { Changes } from './writes/followed-changes.ts';
import { applyToEngine } from './writes/engine-changes.ts';
import { Live } from './subscriptions/live.ts';
import { NameLookUps } from './diagnosis/name-look-ups.ts';
import { ProblemBoard } from './problem/board.ts';
import { ImportStage } from './import/stage.ts';
import { OperationSlots, searchLimits } from './limits/operation-slots.ts';
import { TimeSlices } from './limits/time-slices.ts';
import { CatchUp } from './writes/catch-up.ts';
import { UnappliedChanges } from './writes/unapplied-changes.ts';
import { Writes } from './writes/writes.ts';

/** How long records that the server makes by itself are kept, in days. */
export interface Retention {
  readonly auditDays: number;
  readonly trafficMinuteDays: number;
  readonly trafficHourDays: number;
  readonly trafficDayDays: number;
}

/** The settings that the schema uses. */
export interface SchemaSettings {
  /** The program's version. */
  readonly version: string;
  /** The ports of the bridge; the actual ports if a setting is 0. `fingerprint`: SHA-256 of the TLS certificate, 64 hex digits. */
  readonly bridge: { readonly port: number; readonly tls: { readonly port: number; readonly fingerprint: string } };
  /** The actual ports of the hosts; 0 = none. */
  readonly hostPorts: HostPorts;
  readonly allowLocalProxy: boolean;
  /** The directory of the authority that certificates are ordered from by ACME; "" = none are. */
  readonly acmeDirectory: string;
  /** When the server was started, ms since the epoch. */
  readonly startedAt: number;
  /** The ports that tunnels may use; empty = all. */
  readonly allowPorts: readonly PortRange[];
  /** No user may have this name, since the user could not log in. */
  readonly adminUsername: string;
  /** How many days entries of the audit log, and traffic per minute, hour and day, are kept. */
  readonly retention: Retention;
  /** The public URL of the API; "" = unknown. */
  readonly publicUrl: string;
  /** The secret behind the versions of records; the same after a restart. */
  readonly versionKey: string;
  /** Where other machines may reach the API, to install agents from it. */
  readonly api: ApiPlace;
}

/** The dependencies of the schema. */
export interface ServiceParts {
  readonly store: Store;
  readonly engine: EngineFace;
  readonly settings: SchemaSettings;
  /** Throttles guessing; shared with the engine. */
  readonly attempts: Attempts;
  readonly log: Logger;
  /** Saves the engine's state, unless that was done within the last second. */
  readonly freshState: () => Promise<void>;
  /** ms since the epoch */
  readonly now: () => number;
}

/** Objects that live as long as the server. */
export interface Services extends ServiceParts {
  readonly changes: Changes;
  /** The path of every change to the store. */
  readonly writes: Writes;
  /** Changes that the engine failed to apply. */
  readonly unapplied: UnappliedChanges;
  /** Applies changes that other servers made, or whose commit got no response. */
  readonly catchUp: CatchUp;
  /** The records of an import that arrives in parts. */
  readonly imports: ImportStage;
  /** Notifies subscribers. */
  readonly live: Live;
  /** Finds what is wrong. */
  readonly problems: ProblemBoard;
  /** Looks names up in the DNS for diagnoses. */
  readonly names: NameLookUps;
  /** Divides the event loop between operations. */
  readonly timeSlices: TimeSlices;
  /** Limits the operations of each caller. */
  readonly slots: OperationSlots;
  /** Limits each caller to one search at a time. */
  readonly searches: OperationSlots;
}

/** Connects the listeners to changes: the engine and the subscribers. */
export function createServices(parts: ServiceParts): Services {
  const { store, engine, log, now } = parts;
  const changes = new Changes();
  changes.subscribe(applyToEngine(engine));
  const live = new Live({ store, engine, changes, log, now });
  const unapplied = new UnappliedChanges({ store, changes, log });
  const catchUp = new CatchUp({ store, engine, changes, unapplied, live });
  const writes = new Writes({ store, changes, unapplied, audited: (entry) => live.audited(entry), now });
  tellOfGuesses({ ...parts, writes });
  return {
    ...parts,
    changes,
    writes,
    unapplied,
    catchUp,
    live,
    problems: new ProblemBoard(parts),
    imports: new ImportStage(),
    names: new NameLookUps(),
    timeSlices: new TimeSlices(),
    slots: new OperationSlots(),
    searches: new OperationSlots(searchLimits),
  };
}
