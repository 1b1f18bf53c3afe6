// Longer than 300 lines: it is the whole contract between the engine and those above it, and nothing but types with their comments.
import type { Declared, DeclaredEntry, DeclaredKind } from '../wire/declared.ts';

/**
 * The engine's public face: wanted state goes in, running state comes out. The schema knows the engine by this file only.
 * Nothing here waits on the database. The engine may run in another thread or process: all arguments and results are plain data
 * that survive a structured clone, and all answers are promises.
 */
import type { CertificateDescription, CertificateStanding } from '../rules/certificate.ts';

/** A client as the engine needs it. */
export interface WantedClient {
  readonly id: number;
  /** The verification key the agent proves in its handshake. Never logged. */
  readonly vkey: string;
  /** False when the client or its owner is disabled: the agent is refused and cut off. */
  readonly enabled: boolean;
  /** The earlier of the client's and its owner's expiry, in ms since the epoch; null = never. */
  readonly expiresAt: number | null;
  /** The user name that its proxies and hosts ask for; "" = none. With `basicPassword`. Never logged. */
  readonly basicUser: string;
  readonly basicPassword: string;
  /** All its traffic runs over TLS. */
  readonly crypt: boolean;
  /** What its traffic carries is compressed. */
  readonly compress: boolean;
  /** Its agent may bring tunnels and hosts of its own. */
  readonly configAllowed: boolean;
  /** Bytes a second, all tunnels and hosts, both directions; 0 = unlimited. */
  readonly rateLimit: number;
  /** Bytes in all, both directions; 0 = unlimited. */
  readonly flowLimit: number;
  /** Visitor connections at once; 0 = unlimited. */
  readonly maxConnections: number;
  /** IP addresses and networks that are turned away. */
  readonly blackIpList: readonly string[];
  /** Only visitors of `ipWhiteList` are let in (contract D14). */
  readonly ipWhite: boolean;
  readonly ipWhiteList: readonly string[];
  /** What a visitor says to be let in for two hours; "" = he can't. Never logged. */
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
  /** host:port each, used in turn. */
  readonly targets: readonly string[];
  /** The server dials the targets itself, where its settings allow that (contract D15). */
  readonly localProxy: boolean;
  /** What visitors prove (secret, p2p). Never logged. */
  readonly password: string;
  /** What is served of the agent's machine (file). */
  readonly localPath: string;
  /** What is taken off the beginning of the URL's path (file). */
  readonly stripPrefix: string;
  /** The PROXY protocol header that the target gets first; "" = none. */
  readonly proxyProtocol: '' | 'V1' | 'V2';
}

/** A host as the engine needs it. */
export interface WantedHost {
  readonly id: number;
  readonly clientId: number;
  /** A name or address, or `*.` and a name, as rules/host-name.ts spells it. */
  readonly host: string;
  /** The beginning of the paths it is for; "/" = all. */
  readonly location: string;
  readonly scheme: 'all' | 'http' | 'https';
  /** False = stopped: it takes no requests. */
  readonly enabled: boolean;
  /** host:port each, used in turn. */
  readonly targets: readonly string[];
  /** The server dials the targets itself, where its settings allow that (contract D15). */
  readonly localProxy: boolean;
  /** Headers that are set on requests, each `Name: value`. */
  readonly headers: readonly string[];
  /** The Host header that the target sees; "" = as it came. */
  readonly hostChange: string;
  /** Certificate and key, each as PEM text or as the path of a file; "" = none. The key is never logged. */
  readonly certificate: string;
  readonly privateKey: string;
  /** HTTP requests are sent to HTTPS. */
  readonly autoHttps: boolean;
  /** Without a certificate it gets one by ACME, where the server does that. */
  readonly acme: boolean;
  /** An administrator gave it its name: it may be one of the server's own. */
  readonly namedByAdmin: boolean;
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
  /** So many bytes of its totals count no more: what moved since they were read still does. */
  | ({ readonly kind: 'trafficReset'; readonly of: 'client' | 'tunnel' | 'host'; readonly id: number } & CountedBytes)
  /** IP addresses and networks that are turned away everywhere. */
  | { readonly kind: 'blackIpList'; readonly list: readonly string[] }
  /** The server's own name or address, without a port; "" = not told. The host of that name answers visitors whose TLS names none. */
  | { readonly kind: 'serverName'; readonly name: string };

/** What a tunnel of a mode with a listener wants to listen on. */
export interface PortRequest {
  readonly mode: string;
  /** 0 = any free port among the allowed ones. */
  readonly port: number;
  readonly serverIp: string;
  /** The tunnel that is being edited: its own listener, and its claim on the port, don't stand in the way. */
  readonly replaces?: number;
}

/** A port that is bound already and waits for its tunnel: what can fail outside the database is tried first. */
export interface PortLease {
  /** Names the lease to `releasePort`; no other lease has it as long as the engine runs. */
  readonly id: number;
  readonly port: number;
}

/** Why there is no lease: the port is occupied, outside `allowPorts` or on an address that this machine lacks. */
export interface PortRefusal {
  /** For the operator. */
  readonly unavailable: string;
  /** The tunnel that has it; null = another program has it. Absent = it is not in use. */
  readonly holder?: number | null;
}

/** Why connections of visitors are refused. */
export const refusalCauses = [
  'offline', 'disabled', 'expired', 'globalBlackList', 'whiteList', 'blackList', 'connections', 'flow', 'capacity', 'agentCapacity', 'noTarget', 'localProxy',
  'login', 'malformed',
] as const;
/** @see refusalCauses */
export type RefusalCause = typeof refusalCauses[number];
/** Refused connections since the server started, by cause; a cause that is absent had none. */
export type Refusals = Readonly<Partial<Record<RefusalCause, number>>>;

/** Running state of a client. Bytes are totals since the client was made. */
export interface ClientState {
  readonly connected: boolean;
  /** The agent's address as the bridge saw it, without port; "" = not seen since the server started. */
  readonly address: string;
  /** LAN addresses the agent reported. */
  readonly localAddress: string;
  readonly version: string;
  /** Open visitor connections. */
  readonly connections: number;
  /** Over all its tunnels and hosts. */
  readonly refusals: Refusals;
  /** Bytes moved in the last whole second, both directions. */
  readonly rate: number;
  readonly inletBytes: number;
  readonly exportBytes: number;
  /** ms since the epoch; null = not seen since the server started. */
  readonly lastOnlineAt: number | null;
}

/** Running state of a tunnel. */
export interface TunnelState {
  /** It serves: its listener is open, or it needs none. */
  readonly running: boolean;
  /** Why it isn't although it is wanted; "" = nothing wrong. */
  readonly error: string;
  readonly connections: number;
  readonly refusals: Refusals;
  readonly rate: number;
  readonly inletBytes: number;
  readonly exportBytes: number;
  /** Datagrams that were dropped (udp) since the server started: too many waited, or the visitor was refused. */
  readonly dropped: number;
  /** The programs that visit it (secret, p2p). */
  readonly visitors: readonly VisitorState[];
  /** null = its targets are not checked, or its agent is away. */
  readonly health: HealthState | null;
}

/** How the targets of a tunnel or host are checked by its agent, and what that found. */
export interface HealthState {
  readonly type: 'tcp' | 'http';
  /** From the start of one check of a target to the start of the next. */
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** After so many failures in a row a target is out of turn. */
  readonly maxFailed: number;
  /** What is asked for (http); "" = tcp. */
  readonly path: string;
  readonly targets: readonly TargetHealthState[];
}

/** What the checks of one target have come to. */
export interface TargetHealthState {
  /** host:port */
  readonly target: string;
  /** It takes its turn: new connections go to it. */
  readonly healthy: boolean;
  /** Checks that failed in a row, as the agent last told. */
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
  /** How its new connections go: through the server, or past it (p2p). */
  readonly path: 'relay' | 'direct';
}

/** Running state of a host. */
export interface HostState extends Traffic {
  /** It serves: it is started, its client may serve, and somebody is there to dial its targets. */
  readonly running: boolean;
  /** Why it doesn't although it is started; "" = nothing wrong. */
  readonly error: string;
  readonly refusals: Refusals;
  /** null = its targets are not checked, or its agent is away. */
  readonly health: HealthState | null;
}

/** How the certificate stands that answers for a host. Of its key nothing is told. */
export interface CertificateState {
  /** null = there never was a usable pair: handshakes fail. */
  readonly inUse: CertificateDescription | null;
  readonly standing: CertificateStanding;
  /** Why what is in its place now is not in use; "" = it is. */
  readonly problem: string;
  /** How its orders stand; null = it is not got by ACME. */
  readonly acme: AcmeState | null;
}

/** How the orders of a certificate by ACME stand. */
export interface AcmeState {
  /** pending: an order is under way or about to be; failed: the last one did, and what there was before stays in use. */
  readonly status: 'pending' | 'valid' | 'failed';
  /** Why the last order failed; "" = it didn't. */
  readonly problem: string;
  /** When the next order is due, ms since the epoch; null = one is under way. */
  readonly nextAt: number | null;
}

/** What is moving. Bytes are totals; rate: bytes of both directions in the last whole second. */
export type Traffic = Pick<TunnelState, 'connections' | 'rate' | 'inletBytes' | 'exportBytes'>;

/** An open connection of a visitor. */
export interface ConnectionState {
  /** No other connection has it as long as the server runs. */
  readonly id: number;
  readonly clientId: number;
  /** What it goes through. */
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
  readonly clients: ReadonlyArray<{ readonly id: number } & Pick<
    ClientState, 'connected' | 'rate' | 'address' | 'localAddress' | 'version' | 'inletBytes' | 'exportBytes' | 'lastOnlineAt'>>;
  readonly tunnels: ReadonlyArray<{ readonly id: number } & Pick<TunnelState, 'running' | 'inletBytes' | 'exportBytes'>>;
  readonly hosts: ReadonlyArray<{ readonly id: number } & Pick<HostState, 'inletBytes' | 'exportBytes'>>;
}

/** Something whose state is another one now: an agent came or went, a listener was opened, closed or failed, a certificate was replaced or refused, a target went out of turn or came back. */
export interface EngineEvent {
  readonly kind: 'client' | 'tunnel' | 'host';
  readonly id: number;
}

/** The certificate of a host. */
export interface CertificateQuestion {
  /** The host's id. */
  readonly id: number;
  /** The very name that is asked for, where the host is a wildcard. */
  readonly name?: string;
}

/**
 * What the schema may ask of the engine. States are asked for in batches: the answers stand in the order of the ids, undefined for
 * what the engine doesn't know.
 */
export interface EngineFace {
  /** The tunnel modes it can serve; they stay the same. */
  readonly modes: readonly string[];
  /** Binds a port now. Release the lease in any case. */
  reservePort(request: PortRequest): Promise<PortLease | PortRefusal>;
  /** Gives the port of a lease back; nothing happens when a tunnel has taken it over. */
  releasePort(leaseId: number): Promise<void>;
  /** Resolves when listeners and sessions agree with the change. */
  apply(change: EngineChange): Promise<void>;
  clientStates(ids: readonly number[]): Promise<Array<ClientState | undefined>>;
  tunnelStates(ids: readonly number[]): Promise<Array<TunnelState | undefined>>;
  hostStates(ids: readonly number[]): Promise<Array<HostState | undefined>>;
  /** How the certificates of hosts stand, looked at now; undefined = TLS is passed through to the target, or the host is for HTTP only. */
  hostCertificates(questions: readonly CertificateQuestion[]): Promise<Array<CertificateState | undefined>>;
  /** Of all clients together. Costs a look at each. */
  traffic(): Promise<Traffic>;
  /** The open connections of a client's visitors, the oldest first. */
  connections(clientId: number): Promise<ConnectionState[]>;
  /** Cuts a connection. Resolves to it as it was; undefined = the client has none of that id. */
  closeConnection(clientId: number, id: number): Promise<ConnectionState | undefined>;
  /** The client that lets visitors in by a password and whose key has this digest (contract 3.2); undefined = there is none. */
  clientOfVisitors(keyDigest: string): Promise<number | undefined>;
  /** Lets the visitors of an address in for two hours, whatever the client's whitelist says. Resolves to false when the password is another. */
  letIn(clientId: number, address: string, password: string): Promise<boolean>;
  /** Whether a visitor was let in by the password and may still come. */
  isLetIn(clientId: number, address: string): Promise<boolean>;
  /**
   * Calls `listener` with what has changed, several changes at once where they came together, and possibly a little later. It stays on
   * the caller's side, only the events travel; it must not throw. @returns the way to stop
   */
  watch(listener: (events: readonly EngineEvent[]) => void): () => void;
  /**
   * Lets the client's agent dial a target (host:port) and close again, in at most `timeoutMs`. Resolves to why it failed, for
   * people; "" = the target took the connection.
   */
  probe(clientId: number, target: string, timeoutMs: number): Promise<string>;
}

/** What became of an entry. @see Declared */
export type DeclaredOutcome = Pick<Declared, 'id' | 'port' | 'error'>;

/** The tunnels and hosts that one agent brings along, as long as its session lasts. */
export interface AgentRecords {
  /** Makes the entry's record or changes it. Never rejects. */
  declare(entry: DeclaredEntry): Promise<DeclaredOutcome>;
  /** Deletes the entry's record. Never rejects. */
  withdraw(kind: DeclaredKind, name: string): Promise<DeclaredOutcome>;
  /** The session is over: deletes them all. */
  close(): void;
}

/** Keeps what agents in configuration-file mode bring along; every rule of the API holds for it. */
export interface Declarations {
  /** @param address the agent's */
  open(clientId: number, address: string): AgentRecords;
}

export { type DeclaredEntry, type DeclaredKind, MAX_DECLARED } from '../wire/declared.ts';
