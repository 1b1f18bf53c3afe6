// Longer than 300 lines: it is the whole interface between the engine and its callers, and only has types with comments.
import type { DeclaredEntry, DeclaredKind } from '../wire/declaration.ts';
import type { Declared } from '../wire/declared.ts';

/**
 * The public interface of the engine: it takes the wanted state and reports the running state. The schema imports only this file of the engine.
 * Nothing here waits for the database. The engine may run in another thread or process: all arguments and results are plain data
 * that survive a structured clone, and all results are promises.
 */
import type { CertificateDescription, CertificateStatus } from '../rules/certificate.ts';
import type { Login } from '../rules/login.ts';

/** A client as the engine needs it. */
export interface WantedClient {
  readonly id: number;
  /** The verification key that the agent authenticates with. Never logged. */
  readonly vkey: string;
  /** False when the client or its owner is disabled: the agent is refused and cut off. */
  readonly enabled: boolean;
  /** The earlier of the client's and its owner's expiry, in ms since the epoch; null = never. */
  readonly expiresAt: number | null;
  /** The user name for its proxies and hosts; "" = none. With `basicPassword`. Never logged. */
  readonly basicUser: string;
  readonly basicPassword: string;
  /** All its traffic runs over TLS. */
  readonly crypt: boolean;
  /** Its traffic is compressed. */
  readonly compress: boolean;
  /** Its agent may declare tunnels and hosts. */
  readonly configAllowed: boolean;
  /** Bytes per second of all tunnels and hosts, both directions; 0 = unlimited. */
  readonly rateLimit: number;
  /** Total bytes, both directions; 0 = unlimited. */
  readonly flowLimit: number;
  /** Maximum concurrent visitor connections; 0 = unlimited. */
  readonly maxConnections: number;
  /** IP addresses and networks that are refused, in the stored form, one per line: as separate texts they would take three times the memory. */
  readonly blackIpList: string;
  /** Only visitors of `ipWhiteList`, a list of the same form, are allowed (contract D14). */
  readonly ipWhite: boolean;
  readonly ipWhiteList: string;
  /** The password that allows a visitor's address for two hours; "" = none. Never logged. */
  readonly ipWhitePassword: string;
}

/** A tunnel as the engine needs it. */
export interface WantedTunnel {
  readonly id: number;
  readonly clientId: number;
  readonly mode: string;
  /** False = stopped: no listener, no connections. */
  readonly enabled: boolean;
  readonly port: number;
  /** Address to bind; "" = all. */
  readonly serverIp: string;
  /** host:port each, used in round-robin order. */
  readonly targets: readonly string[];
  /** The server dials the targets itself, where its settings allow that (contract D15). */
  readonly localProxy: boolean;
  /** The password that visitors authenticate with (secret, p2p). Never logged. */
  readonly password: string;
  /** The path on the agent's machine that is served (file). */
  readonly localPath: string;
  /** The prefix that is removed from the URL's path (file). */
  readonly stripPrefix: string;
  /** The version of the PROXY protocol header that is sent to the target; "" = none. */
  readonly proxyProtocol: '' | 'V1' | 'V2';
  /** The accounts of a proxy's visitors; empty = the client's user name and password apply. Never logged. */
  readonly accounts: readonly Login[];
}

/** A host as the engine needs it. */
export interface WantedHost {
  readonly id: number;
  readonly clientId: number;
  /** A name or address, or `*.` and a name, as rules/host-name.ts spells it. */
  readonly host: string;
  /** The prefix of the paths that it serves; "/" = all. */
  readonly location: string;
  readonly scheme: 'all' | 'http' | 'https';
  /** False = stopped: it takes no requests. */
  readonly enabled: boolean;
  /** host:port each, used in round-robin order. */
  readonly targets: readonly string[];
  /** The server dials the targets itself, where its settings allow that (contract D15). */
  readonly localProxy: boolean;
  /** Headers that are set on requests, each `Name: value`. */
  readonly headers: readonly string[];
  /** The Host header that the target sees; "" = unchanged. */
  readonly hostChange: string;
  /** Certificate and key, each as PEM text or as the path of a file; "" = none. The key is never logged. */
  readonly certificate: string;
  readonly privateKey: string;
  /** HTTP requests are redirected to HTTPS. */
  readonly autoHttps: boolean;
  /** Without a certificate of its own, it gets one by ACME, if the server uses ACME. */
  readonly acme: boolean;
  /** An administrator set its name, which may be one of the server's own. */
  readonly namedByAdmin: boolean;
}

/** Settings of another server that differ from those of this one, although they must be the same. */
export interface DifferentSettings {
  /** The name of the other server. */
  readonly node: string;
  /** Their keys in adit.toml. */
  readonly settings: readonly string[];
  /** The other server was started earlier. */
  readonly isOlder: boolean;
}

/** Bytes of a client, tunnel or host. */
export interface CountedBytes {
  /** From visitors. */
  readonly inletBytes: number;
  /** To visitors. */
  readonly exportBytes: number;
}

/** One change of wanted state, applied after the transaction that stored it. */
export type EngineChange =
  | { readonly kind: 'client'; readonly client: WantedClient }
  /** Its tunnels and hosts go with it. */
  | { readonly kind: 'clientRemoved'; readonly id: number }
  /** New or changed. `lease` holds the port when the listener has to be a new one. */
  | { readonly kind: 'tunnel'; readonly tunnel: WantedTunnel; readonly lease?: PortLease }
  | { readonly kind: 'tunnelRemoved'; readonly id: number }
  | { readonly kind: 'host'; readonly host: WantedHost }
  | { readonly kind: 'hostRemoved'; readonly id: number }
  /** Subtracts these bytes from its totals: traffic since they were read still counts. */
  | ({ readonly kind: 'trafficReset'; readonly of: 'client' | 'tunnel' | 'host'; readonly id: number } & CountedBytes)
  /** IP addresses and networks that are refused everywhere. */
  | { readonly kind: 'blackIpList'; readonly list: readonly string[] }
  /** The server's own name or address, without a port; "" = unknown. Visitors whose TLS names no host get the host of this name. */
  | { readonly kind: 'serverName'; readonly name: string }
  /** Another server has changed the ACME certificate of a name, or the state of its orders; null = of any. */
  | { readonly kind: 'acme'; readonly name: string | null };

/** The ids of all records that the engine knows. */
export interface WantedIds {
  readonly clients: readonly number[];
  readonly tunnels: readonly number[];
  readonly hosts: readonly number[];
}

/** The address and port that a tunnel requests for its listener. */
export interface PortRequest {
  readonly mode: string;
  /** 0 = any free port among the allowed ones. */
  readonly port: number;
  readonly serverIp: string;
  /** The tunnel that is being edited: its own listener, and its claim on the port, are no conflict. */
  readonly replaces?: number;
}

/** A port that is bound before its tunnel is stored, so that steps that can fail outside the database come first. */
export interface PortLease {
  /** The id for `releasePort`, unique as long as the engine runs. */
  readonly id: number;
  readonly port: number;
}

/** Why there is no lease: the port is occupied, outside `allowPorts` or on an address that this machine lacks. */
export interface PortRefusal {
  /** For the operator. */
  readonly unavailable: string;
  /** The tunnel that uses the port; null = another program uses it; absent = not in use. */
  readonly holder?: number | null;
}

/** The certificate of one of all hosts. */
export interface ListedCertificate {
  readonly id: number;
  readonly status: CertificateStatus;
  /** When the current one expires, in ms since the epoch; null = there is none. */
  readonly until: number | null;
}

/** Why connections of visitors are refused. */
export const refusalCauses = [
  'offline',
  'disabled',
  'expired',
  'globalBlackList',
  'whiteList',
  'blackList',
  'connections',
  'flow',
  'capacity',
  'agentCapacity',
  'noTarget',
  'localProxy',
  'login',
  'malformed',
] as const;
/** @see refusalCauses */
export type RefusalCause = typeof refusalCauses[number];
/** Refused connections since the server started, by cause; absent causes have not occurred. */
export type Refusals = Readonly<Partial<Record<RefusalCause, number>>>;

/** Connections of a client's visitors that were refused for one cause. */
export interface RefusalCount {
  readonly clientId: number;
  readonly cause: RefusalCause;
  readonly count: number;
}

/** Why the session of an agent ended: what the agent did, what happened to its connection, or why the server ended it. */
export const sessionEnds = [
  'agentStopped',
  'lost',
  'protocol',
  'moved',
  'replaced',
  'disabled',
  'expired',
  'keyChanged',
  'transportChanged',
  'configRefused',
  'tooMuchDeclared',
  'serverStopped',
] as const;
/** @see sessionEnds */
export type SessionEnd = typeof sessionEnds[number];

/** A session of a client's agent. */
export interface AgentSessionState {
  /** ms since the epoch. */
  readonly since: number;
  /** ms since the epoch; null = it is connected. */
  readonly until: number | null;
  /** The agent's, as the bridge saw it, without port. */
  readonly address: string;
  readonly version: string;
  /** It ran over TLS. */
  readonly secure: boolean;
  /** null = it has not ended. */
  readonly end: SessionEnd | null;
  /** Why it ended, for people; "" = it has not ended. */
  readonly endText: string;
}

/** Running state of a client. Bytes are totals since the client was made. */
export interface ClientState {
  readonly connected: boolean;
  /** When its agent connected, ms since the epoch; null = it is not connected. */
  readonly connectedSince: number | null;
  /** When its agent was last heard, ms since the epoch; null = it is not connected. */
  readonly lastHeardAt: number | null;
  /** The name of the node that its agent is connected to; undefined = it is not connected, or there is only one server. */
  readonly home?: string | undefined;
  /** Its agent is connected over TLS. */
  readonly secure: boolean;
  /** Why its agent's last session ended; null = it is connected, or was not since the server started. */
  readonly end: SessionEnd | null;
  /** The agent's address as the bridge saw it, without port; "" = not seen since the server started. */
  readonly address: string;
  /** LAN addresses the agent reported. */
  readonly localAddress: string;
  readonly version: string;
  /** Open visitor connections. */
  readonly connections: number;
  /** Over all its tunnels and hosts. */
  readonly refusals: Refusals;
  /** Bytes moved in the last whole second: in both directions, from visitors, and to them. */
  readonly rate: number;
  readonly inletRate: number;
  readonly exportRate: number;
  readonly inletBytes: number;
  readonly exportBytes: number;
  /** ms since the epoch; null = not seen since the server started. */
  readonly lastOnlineAt: number | null;
}

/** Running state of a tunnel. */
export interface TunnelState {
  /** It serves: its listener is open, or it needs none. */
  readonly running: boolean;
  /** Why it isn't running although it is enabled; "" = no problem. */
  readonly error: string;
  readonly connections: number;
  readonly refusals: Refusals;
  /** As for a client. */
  readonly rate: number;
  readonly inletRate: number;
  readonly exportRate: number;
  readonly inletBytes: number;
  readonly exportBytes: number;
  /** Datagrams that were dropped (udp) since the server started: too many were queued, or the visitor was refused. */
  readonly dropped: number;
  /** The programs that visit it (secret, p2p). */
  readonly visitors: readonly VisitorState[];
  /** null = its targets are not checked, or its agent is away. */
  readonly health: HealthState | null;
}

/** How an agent checks the targets of a tunnel or host, and the results. */
export interface HealthState {
  readonly type: 'tcp' | 'http';
  /** From the start of one check of a target to the start of the next. */
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** After this many failures in a row a target is taken out of rotation. */
  readonly maxFailed: number;
  /** The path of the check (http); "" = tcp. */
  readonly path: string;
  readonly targets: readonly TargetHealthState[];
}

/** The results of the checks of one target. */
export interface TargetHealthState {
  /** host:port */
  readonly target: string;
  /** It is in rotation: new connections go to it. */
  readonly healthy: boolean;
  /** Checks that failed in a row, by the agent's last report. */
  readonly failures: number;
  /** Since when it is healthy or not, in ms since the epoch; null = no check has failed yet. */
  readonly since: number | null;
  /** Of the last check that failed; "" = none has. */
  readonly lastError: string;
}

/** A program that visits a tunnel without a port (secret, p2p). */
export interface VisitorState {
  /** As the bridge sees it, without port. */
  readonly address: string;
  /** ms since the epoch. */
  readonly since: number;
  /** The path of its new connections: through the server, or direct (p2p). */
  readonly path: 'relay' | 'direct';
}

/** Running state of a host. */
export interface HostState extends Traffic {
  /** It serves: it is started, its client may serve, and its agent, or the server itself, can dial its targets. */
  readonly running: boolean;
  /** Why it isn't served although it is enabled; "" = no problem. */
  readonly error: string;
  readonly refusals: Refusals;
  /** null = its targets are not checked, or its agent is away. */
  readonly health: HealthState | null;
}

/** The status of the certificate that is used for a host. Contains nothing of its key. */
export interface CertificateState {
  /** null = there never was a usable pair: handshakes fail. */
  readonly inUse: CertificateDescription | null;
  readonly status: CertificateStatus;
  /** Why a replacement is not used; "" = there is no refused replacement. */
  readonly problem: string;
  /** The state of its orders; null = it is not issued by ACME. */
  readonly acme: AcmeState | null;
}

/** Started tunnels and hosts with a problem that only the engine knows. */
export interface Troubles {
  /** Hosts whose certificate isn't simply valid, as of the last check of its files, at most 30 s ago. */
  readonly certificates: ReadonlyArray<RouteOf & { readonly status: Exclude<CertificateStatus, 'valid'> }>;
  /** Tunnels and hosts none of whose targets passes its health checks. */
  readonly unhealthyTunnels: readonly RouteOf[];
  readonly unhealthyHosts: readonly RouteOf[];
}

/** A tunnel or host, and its client. */
interface RouteOf {
  readonly id: number;
  readonly clientId: number;
}

/** What became of a request to attempt a failed ACME order now. `at`: when it is possible, ms since the epoch. */
export type AcmeRetry = { readonly kind: 'started' | 'notFailed' } | { readonly kind: 'later'; readonly at: number };

/** The state of the ACME orders of a certificate. */
export interface AcmeState {
  /** pending: an order is in progress or about to start; failed: the last order failed, and the previous certificate stays in use. */
  readonly status: 'pending' | 'valid' | 'failed';
  /** Orders that failed since the last certificate. */
  readonly failures: number;
  /** Why the last order failed; "" = it didn't. */
  readonly problem: string;
  /** When the last order began, ms since the epoch; null = it is not known. */
  readonly lastAt: number | null;
  /** When the next order is due, ms since the epoch; null = one is in progress. */
  readonly nextAt: number | null;
}

/** Current traffic. Bytes are totals; rates are bytes in the last whole second. */
export type Traffic = Pick<TunnelState, 'connections' | 'rate' | 'inletRate' | 'exportRate' | 'inletBytes' | 'exportBytes'>;

/** Some rows of a list. */
export interface RowRange {
  /** Rows to skip. */
  readonly offset: number;
  /** Maximum number of rows. */
  readonly limit: number;
}

/** A page of open connections. */
export interface ConnectionsPage {
  readonly rows: readonly ConnectionState[];
  /** Of all open connections. */
  readonly total: number;
}

/** An open connection of a visitor. */
export interface ConnectionState {
  /** Unique as long as the server runs. */
  readonly id: number;
  readonly clientId: number;
  /** The tunnel or host that it uses. */
  readonly through: { readonly kind: 'tunnel' | 'host'; readonly id: number };
  /** The visitor's. */
  readonly address: string;
  readonly port: number;
  /** ms since the epoch. */
  readonly since: number;
  /** From the visitor. */
  readonly inletBytes: number;
  /** To the visitor. */
  readonly exportBytes: number;
  /** Bytes moved in the last whole second, both directions. */
  readonly rate: number;
}

/** Counters and last-seen facts that changed since they were last taken; absolute values, safe to write twice. */
export interface StateBatch {
  readonly clients: ReadonlyArray<
    & { readonly id: number }
    & Pick<
      ClientState,
      'connected' | 'connections' | 'rate' | 'address' | 'localAddress' | 'version' | 'inletBytes' | 'exportBytes' | 'lastOnlineAt'
    >
  >;
  readonly tunnels: ReadonlyArray<{ readonly id: number } & Pick<TunnelState, 'running' | 'connections' | 'rate' | 'inletBytes' | 'exportBytes'>>;
  readonly hosts: ReadonlyArray<{ readonly id: number } & Pick<HostState, 'connections' | 'rate' | 'inletBytes' | 'exportBytes'>>;
}

/** A change of state: an agent connected or disconnected, a listener was opened, closed or failed, a certificate was replaced or refused, a target went out of rotation or came back. */
export interface EngineEvent {
  readonly kind: 'client' | 'tunnel' | 'host';
  readonly id: number;
}

/** The certificate of a host. */
export interface CertificateQuestion {
  /** The host's id. */
  readonly id: number;
  /** The exact name, where the host is a wildcard. */
  readonly name?: string;
}

/**
 * The engine's interface for the schema. States are requested in batches: the answers are in the order of the ids, undefined for
 * what the engine doesn't know.
 */
export interface EngineFace {
  /** The tunnel modes that the engine serves; they never change. */
  readonly modes: readonly string[];
  /** Binds a port now. Release the lease in any case. */
  reservePort(request: PortRequest): Promise<PortLease | PortRefusal>;
  /** Releases the port of a lease; does nothing if a tunnel has taken it over. */
  releasePort(leaseId: number): Promise<void>;
  /** Resolves when the change was applied to listeners and sessions. */
  apply(change: EngineChange): Promise<void>;
  /** The ids of everything that is wanted. Takes time in proportion to their number. */
  wanted(): Promise<WantedIds>;
  clientStates(ids: readonly number[]): Promise<Array<ClientState | undefined>>;
  /** The sessions of a client's agent since the server started, the newest first, as many as are remembered. */
  agentSessions(clientId: number): Promise<readonly AgentSessionState[]>;
  tunnelStates(ids: readonly number[]): Promise<Array<TunnelState | undefined>>;
  hostStates(ids: readonly number[]): Promise<Array<HostState | undefined>>;
  /** The current certificate status of hosts; undefined = TLS is passed through to the target, or the host is for HTTP only. */
  hostCertificates(questions: readonly CertificateQuestion[]): Promise<Array<CertificateState | undefined>>;
  /** All hosts that need a certificate or have one, as of the last check of its files, at most 30 s ago. Takes time in proportion to the number of hosts. */
  listedCertificates(): Promise<readonly ListedCertificate[]>;
  /** Takes time in proportion to the number of tunnels and hosts; call it rarely. */
  troubles(): Promise<Troubles>;
  /** Attempts the failed ACME order of a host's certificate now, at most a few times per hour. */
  retryAcme(hostId: number): Promise<AcmeRetry>;
  /** Totals over all clients. Takes time in proportion to their number. */
  traffic(): Promise<Traffic>;
  /** A page of the open connections of a client's visitors, the oldest first. Costs as much as its rows and those before it. */
  connections(clientId: number, range: RowRange): Promise<ConnectionsPage>;
  /** Closes a connection. Resolves to its last state; undefined = the client has none of that id. */
  closeConnection(clientId: number, id: number): Promise<ConnectionState | undefined>;
  /** The client that accepts visitors by a password and whose key has this digest (contract 3.2); undefined = there is none. */
  clientOfVisitors(keyDigest: string): Promise<number | undefined>;
  /** Allows the visitors of an address for two hours, even if they are not on the client's allowlist. Resolves to false when the password is wrong. */
  allowByPassword(clientId: number, address: string, password: string): Promise<boolean>;
  /** Whether an address was allowed by the password and that has not expired. */
  isAllowedByPassword(clientId: number, address: string): Promise<boolean>;
  /**
   * Calls `listener` with changes, possibly batched and slightly delayed. The function stays on the caller's side, only the
   * events are sent across; it must not throw. @returns a function that unsubscribes
   */
  watch(listener: (events: readonly EngineEvent[]) => void): () => void;
  /**
   * Makes the client's agent dial a target (host:port) and close the connection, in at most `timeoutMs`. Resolves to the error
   * as text for people; "" = the target accepted the connection.
   */
  probe(clientId: number, target: string, timeoutMs: number): Promise<string>;
  /** The settings of other servers that differ from those of this one, although they must be the same. */
  differentSettings(): Promise<readonly DifferentSettings[]>;
}

/** The outcome of a declaration. @see Declared */
export type DeclaredOutcome = Pick<Declared, 'id' | 'port' | 'error'>;

/** The tunnels and hosts that one agent declares, as long as its session lasts. */
export interface AgentRecords {
  /** Creates or updates the entry's record. Never rejects. */
  declare(entry: DeclaredEntry): Promise<DeclaredOutcome>;
  /** Deletes the entry's record. Never rejects. */
  withdraw(kind: DeclaredKind, name: string): Promise<DeclaredOutcome>;
  /** The session is over: deletes them all. */
  close(): void;
}

/** Keeps the records that agents in configuration-file mode declare; every rule of the API applies to them. */
export interface Declarations {
  /** @param address the agent's */
  open(clientId: number, address: string): AgentRecords;
}

export type { DeclaredEntry, DeclaredKind } from '../wire/declaration.ts';
export { MAX_DECLARED } from '../wire/declared.ts';
