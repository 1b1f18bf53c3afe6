import type { ConnectionState, CountedBytes, PortLease } from '../../engine/face.ts';
import type { Credential, Lockout } from '../../rules/attempts.ts';
import type { Caller, Credentials } from '../../rules/caller.ts';
import type { ImportReport } from '../import/report.ts';
import type { NodeState } from '../../store/nodes.ts';
import type { ApiToken, Client, Enrolment, GlobalSettings, Host, PlatformDomain, Session, Tunnel, User } from '../../store/generated/sqlite/client.ts';

/** A client with its owner, whose state and expiry also apply. */
export type ClientWithOwner = Client & { readonly user: User | null };

/** The global settings with the platform domains, which are saved together. */
export type GlobalState = GlobalSettings & { readonly platformDomains: readonly PlatformDomain[] };

/** The first wrong guess from an address within a period. */
export interface FailedAttempt {
  readonly credential: Credential;
  /** The name in the guess; blank = an agent, which sends no name. */
  readonly name: string;
}

/** An import, as the audit log shows it. */
interface ImportSummary {
  /** Its time. */
  readonly id: string;
  readonly counts: ImportReport['counts'];
  /** Records of which only the counters have changed. */
  readonly counted: number;
  /** Records with problems that were skipped. */
  readonly skipped: number;
  readonly leftOut: number;
}

/** The rows that the engine has to apply after an import, by their ids. */
export interface ImportedRows {
  readonly clients: readonly number[];
  readonly tunnels: readonly number[];
  readonly hosts: readonly number[];
  /** Bytes that were added to the counters of records: for new ones, all bytes of the row. */
  readonly counted: ReadonlyArray<{ readonly resource: 'client' | 'tunnel' | 'host'; readonly id: number } & CountedBytes>;
  readonly globalSettings: boolean;
}

/** The part of a node that changes contain. */
export type AuditedNode = Pick<NodeState, 'name' | 'draining'>;

/** A host whose certificate is ordered again. */
export type AuditedOrder = Pick<Host, 'id' | 'host'>;

/** Whether the key of the installation is being changed. */
export interface AuditedKey {
  readonly id: 'installation';
  readonly changing: boolean;
}

/** The part of a session that changes contain. */
export type AuditedSession = Pick<Session, 'id' | 'kind' | 'userId' | 'clientId'>;

/** The additional field of changes of records with counters. */
interface Resettable {
  /** The totals before its traffic was reset. */
  readonly reset?: CountedBytes;
}

/** The author of a change: a caller, or the program itself. */
export type Author = Caller | (Credentials & { readonly kind: 'server' });

type Action<Row> =
  | { readonly action: 'create'; readonly after: Row }
  | { readonly action: 'update'; readonly before: Row; readonly after: Row }
  | { readonly action: 'delete'; readonly before: Row };

/** A change: the rows before and after, its author and time. All changes are stored except attempts, lockouts and visitors' connections. */
export type Change =
  & { readonly caller: Author; readonly at: Date }
  & (
    | { readonly resource: 'client' } & Resettable & Action<ClientWithOwner>
    /** `lease` holds the port of a listener that must be reopened. */
    | { readonly resource: 'tunnel'; readonly lease?: PortLease } & Resettable & Action<Tunnel>
    | { readonly resource: 'host' } & Resettable & Action<Host>
    /** `clients`: the clients whose state changes with the user's, after the change. */
    | { readonly resource: 'user'; readonly clients: readonly ClientWithOwner[] } & Action<User>
    | { readonly resource: 'apiToken' } & Action<ApiToken>
    /** An update is its use. */
    | { readonly resource: 'enrolment' } & Action<Enrolment>
    | { readonly resource: 'globalSettings' } & Action<GlobalState>
    /** A login, a logout. */
    | { readonly resource: 'session' } & Action<AuditedSession>
    | { readonly resource: 'lockout' } & Action<Lockout>
    /** A node is to drain, or no longer. */
    | { readonly resource: 'node'; readonly action: 'update'; readonly before: AuditedNode; readonly after: AuditedNode }
    /** A caller retries a failed order of a certificate. */
    | { readonly resource: 'acmeOrder'; readonly action: 'create'; readonly after: AuditedOrder }
    /** The servers begin to change the key of the installation. */
    | { readonly resource: 'installationKey'; readonly action: 'update'; readonly before: AuditedKey; readonly after: AuditedKey }
    /** A visitor's connection, closed by a caller. */
    | { readonly resource: 'connection'; readonly action: 'delete'; readonly before: ConnectionState }
    /** Many records at once, from another server. `rows`: what the engine has to apply. */
    | { readonly resource: 'import'; readonly action: 'create'; readonly after: ImportSummary; readonly rows: ImportedRows }
    | { readonly resource: 'failedAttempt'; readonly action: 'create'; readonly after: FailedAttempt }
  );

/** A change as a write reports it; the path of writes adds author and time. */
export type MadeChange = ChangeOf<Change>;

type ChangeOf<T> = T extends Change ? Omit<T, 'caller' | 'at'> : never;
