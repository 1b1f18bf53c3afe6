import { writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { sign } from '../../src/legacy/signature.ts';
import { bridgeIdentityFile } from '../../src/settings/bridge-identity.ts';
import { bridge } from './certificates.ts';
import { Child } from './child.ts';
import { scratchDirectory } from './scratch.ts';

const ownRoot = path.resolve(import.meta.dirname, '../..');
/** Signs the calls of this process, and is every server's. */
export const authKey = 'the key of the processes';

/** The way that `auto` finds on the Node versions we know, without the self-test at each start. Another checkout may not know it. */
function fast(root: string): ServerOptions['environment'] {
  return root === ownRoot ? { ADIT_SOCKETS: 'captured' } : {};
}

/**
 * Flags of Node for a server: Prisma's query compiler is WebAssembly, and only its functions that are called are compiled, quickly. It is then ready with a
 * third less of a processor's time, and no test is about what it gains later by optimising them.
 */
export const quickStart = ['--liftoff-only', '--wasm-lazy-compilation'];

/** The environment of a server that makes many passwords, none of which has to be hard to guess. */
export const cheapHashes = { NODE_OPTIONS: `--import ${pathToFileURL(path.resolve(import.meta.dirname, 'cheap-hashes.mjs')).href}` };

/** The environment of an agent that waits a tenth of the usual time before it connects again: for tests that are not about this time. */
export const soonBack = { NODE_OPTIONS: `--import ${pathToFileURL(path.resolve(import.meta.dirname, 'soon-back.mjs')).href}` };

/** The program as `adit server`, in a process of its own. */
export interface ServerProcess {
  readonly child: Child;
  readonly dataDir: string;
  /** The address of the API; left out = 127.0.0.1. */
  readonly httpHost?: string;
  readonly httpPort: number;
  readonly bridgePort: number;
  readonly tlsPort: number;
  /** Of the certificate on `tlsPort`. */
  readonly fingerprint: string;
  /** Of the hosts: HTTP and HTTPS. */
  readonly hostsPort: number;
  readonly secureHostsPort: number;
  /** The checkout whose compiled program it is: its agents and visitors are of the same. */
  readonly root: string;
  /** The Node that runs it, and its agents. */
  readonly node: string;
}

/** How a server is started; left out = a new data directory ({@link newDataDir}), any free port. */
export interface ServerOptions {
  readonly dataDir?: string;
  readonly httpPort?: number;
  readonly bridgePort?: number;
  readonly tlsPort?: number;
  /** ADIT_... settings */
  readonly environment?: Readonly<Record<string, string>>;
  /** The root of a compiled checkout; left out = this one. */
  readonly root?: string;
  /** Left out = the Node that runs this. */
  readonly node?: string;
  /** Called with each piece that it prints. */
  readonly said?: (text: string) => void;
}

/** The compiled program of a checkout. */
export function programOf(root = ownRoot): string {
  return path.join(root, 'dist/main.js');
}

/** A data directory in which nothing but the certificate of the bridge was made before: to load what makes one is a sixth of what a first start takes. */
export function newDataDir(): string {
  const directory = scratchDirectory();
  writeFileSync(bridgeIdentityFile(directory), `${bridge.certificate}${bridge.key}`, { mode: 0o600 });
  return directory;
}

/**
 * Starts a server and waits for its ready message. A server that is started again on the ports of the last one tries for a while: in between, the system may have given
 * one of them to an outgoing connection of any program.
 */
export async function startServer(options: ServerOptions = {}): Promise<ServerProcess> {
  for (let left = options.httpPort === undefined && options.bridgePort === undefined ? 1 : 20;; left--) {
    try {
      return await startOnce(options);
    } catch (error) {
      if (left === 1 || !String(error).includes('is occupied')) throw error;
      await new Promise((resolve) => {
        setTimeout(resolve, 500);
      });
    }
  }
}

async function startOnce(
  { dataDir = newDataDir(), httpPort = 0, bridgePort = 0, tlsPort = 0, environment = {}, root = ownRoot, node = process.execPath, said }: ServerOptions,
): Promise<ServerProcess> {
  const child = new Child(node, [...quickStart, programOf(root), 'server'], {
    ADIT_DATA_DIR: dataDir,
    ADIT_HTTP_PORT: String(httpPort),
    ADIT_BRIDGE_HOST: '127.0.0.1',
    ADIT_BRIDGE_PORT: String(bridgePort),
    ADIT_BRIDGE_TLS_PORT: String(tlsPort),
    ADIT_VHOST_HOST: '127.0.0.1',
    ADIT_VHOST_HTTP_PORT: '0',
    ADIT_VHOST_HTTPS_PORT: '0',
    ADIT_P2P_PORT: '0',
    ADIT_AUTH_KEY: authKey,
    ...fast(root),
    ...environment,
  }, said);
  const [, httpHost = '', http, bridge, tls, fingerprint = '', hosts, secureHosts] = await child.says(
    /API +https?:\/\/([\d.]+):(\d+)[^]*Bridge +[\d.]+:(\d+), over TLS :(\d+)[^]*SHA-256 ([0-9a-f]{64})[^]*Hosts +HTTP [\d.]+:(\d+), HTTPS :(\d+)/,
  );
  return {
    child,
    dataDir,
    httpHost,
    httpPort: Number(http),
    bridgePort: Number(bridge),
    tlsPort: Number(tls),
    fingerprint,
    hostsPort: Number(hosts),
    secureHostsPort: Number(secureHosts),
    root,
    node,
  };
}

/** How an agent goes to the server: in the clear unless the server wants TLS, or over TLS with the server's certificate pinned. */
export type AgentWay = 'plain' | 'pinned';

/** What an agent has to know of a server. */
export type Reached = Pick<ServerProcess, 'bridgePort'> & Partial<Pick<ServerProcess, 'tlsPort' | 'fingerprint' | 'root' | 'node'>> & {
  /** Left out = 127.0.0.1. */
  readonly bridgeHost?: string;
};

/** Starts an agent and waits until it is connected. @param more flags */
export async function startAgent(
  { bridgeHost = '127.0.0.1', bridgePort, tlsPort, fingerprint, root = ownRoot, node = process.execPath }: Reached,
  vkey: string,
  environment: ServerOptions['environment'] = {},
  way: AgentWay = 'plain',
  more: readonly string[] = [],
): Promise<Child> {
  const flags = way === 'plain' ? ['--server', `${bridgeHost}:${bridgePort}`] : ['--server', `${bridgeHost}:${tlsPort}`, '--tls-fingerprint', `${fingerprint}`];
  const child = new Child(node, [programOf(root), 'agent', ...flags, ...more], { ...fast(root), ...environment, ADIT_VKEY: vkey });
  await child.says(/connected to/);
  return child;
}

/** A visitor, and the local port that it opened. */
export interface VisitorProcess {
  readonly child: Child;
  readonly port: number;
}

/** Starts a visitor, on a free port by default, and waits until it is connected. */
export async function startVisitorProcess(
  { bridgePort, root = ownRoot }: Pick<Reached, 'bridgePort' | 'root'>,
  type: 'secret' | 'p2p',
  password: string,
  environment: ServerOptions['environment'] = {},
  listen = 0,
  more: readonly string[] = [],
): Promise<VisitorProcess> {
  const flags = ['--server', `127.0.0.1:${bridgePort}`, '--type', type, '--listen', String(listen), ...more];
  const child = new Child(process.execPath, [programOf(root), 'visit', ...flags], { ...environment, ADIT_VISIT_PASSWORD: password });
  const [, port] = await child.says(/listening on 127\.0\.0\.1:(\d+)/);
  await child.says(/connected to/);
  return { child, port: Number(port) };
}

/** Parameters of a legacy call. */
export type Parameters = Readonly<Record<string, string | number | boolean>>;

/** The two parameters that sign a call now. */
export function signedNow(): { readonly auth_key: string; readonly timestamp: number } {
  const timestamp = Math.floor(Date.now() / 1000);
  return { auth_key: sign(authKey, timestamp), timestamp };
}

/** Makes a signed legacy call. @returns the answer's JSON @throws when the server can't be reached or answers no JSON */
export async function call(
  { httpHost = '127.0.0.1', httpPort }: Pick<ServerProcess, 'httpHost' | 'httpPort'>,
  route: string,
  parameters: Parameters = {},
): Promise<unknown> {
  const body = new URLSearchParams(Object.entries({ ...signedNow(), ...parameters }).map(([name, value]) => [name, String(value)]));
  // Without keep-alive: no connection of ours counts among the server's file descriptors afterwards.
  const response = await fetch(`http://${httpHost}:${httpPort}${route}`, { method: 'POST', body, headers: { connection: 'close' } });
  return response.json();
}

/** What the server counts, in Prometheus' form. */
export async function metrics({ httpPort }: Pick<ServerProcess, 'httpPort'>): Promise<string> {
  const { auth_key: key, timestamp } = signedNow();
  const response = await fetch(`http://127.0.0.1:${httpPort}/metrics`, {
    headers: { 'x-adit-auth-key': key, 'x-adit-timestamp': String(timestamp), connection: 'close' },
  });
  return response.text();
}

const written = z.object({ status: z.literal(1), msg: z.string(), id: z.number().default(0) });

/** Makes a signed call that writes. @returns the new record's id, if one was made @throws when it is refused */
export async function write(server: Pick<ServerProcess, 'httpHost' | 'httpPort'>, route: string, parameters: Parameters): Promise<number> {
  const answer = await call(server, route, parameters);
  const { success, data } = written.safeParse(answer);
  if (!success) throw new Error(`${route} answered ${JSON.stringify(answer)}`);
  return data.id;
}

const client = z.object({ code: z.literal(1), data: z.object({ Id: z.number(), IsConnect: z.boolean(), NowConn: z.number() }) });
const tunnel = z.object({ code: z.literal(1), data: z.object({ Id: z.number(), Port: z.number(), RunStatus: z.boolean() }) });

/** A client's record. */
export async function getClient(server: ServerProcess, id: number): Promise<z.output<typeof client>['data']> {
  return client.parse(await call(server, '/client/getclient/', { id })).data;
}

/** A tunnel's record. */
export async function getTunnel(server: Pick<ServerProcess, 'httpPort'>, id: number): Promise<z.output<typeof tunnel>['data']> {
  return tunnel.parse(await call(server, '/index/getonetunnel/', { id })).data;
}

/** Opens a tunnel, a tcp one by default, on a port that the server picks. @returns its id and port */
export async function openTunnel(
  server: Pick<ServerProcess, 'httpPort'>,
  clientId: number,
  target: string,
  type: 'tcp' | 'udp' | 'httpProxy' | 'socks5' | 'file' = 'tcp',
  more: Parameters = {},
): Promise<{ readonly id: number; readonly port: number }> {
  const id = await write(server, '/index/add/', { client_id: clientId, type, port: 0, target, ...more });
  return { id, port: (await getTunnel(server, id)).Port };
}
