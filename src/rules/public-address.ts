import { formatHostPort } from './host-port.ts';
import { isWildcard } from './host-name.ts';

/** What of a host its public URLs are made of. */
export interface PublicHost {
  readonly host: string;
  readonly location: string;
  readonly scheme: string;
  /** HTTP requests are sent to HTTPS. */
  readonly autoHttps: boolean;
}

/** The ports where visitors reach hosts; 0 = there is none. */
export interface HostPorts {
  readonly httpPort: number;
  readonly httpsPort: number;
}

/** The URLs by which visitors reach a host, https first. A wildcard has none: its names are not known. */
export function publicUrls({ host, location, scheme, autoHttps }: PublicHost, { httpPort, httpsPort }: HostPorts): string[] {
  if (isWildcard(host)) return [];
  const schemes = [
    ...(scheme !== 'http' && httpsPort > 0 ? [urlOf('https', host, httpsPort, 443)] : []),
    ...(scheme !== 'https' && !(autoHttps && httpsPort > 0) && httpPort > 0 ? [urlOf('http', host, httpPort, 80)] : []),
  ];
  return schemes.map((origin) => `${origin}${encodeURI(location)}`);
}

function urlOf(scheme: string, host: string, port: number, usual: number): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return `${scheme}://${port === usual ? name : formatHostPort({ host, port })}`;
}

/** Addresses to listen on that mean all of a machine's. */
const everywhere: ReadonlySet<string> = new Set(['', '0.0.0.0', '::']);

/**
 * Where visitors reach a tunnel; null = it has no port, or nobody has said by which name this server is reached.
 * @param serverName the server's name or address; '' = not known
 */
export function publicAddress({ port, serverIp }: { readonly port: number; readonly serverIp: string }, serverName: string): string | null {
  const host = everywhere.has(serverIp) ? serverName : serverIp;
  return port === 0 || host === '' ? null : formatHostPort({ host, port });
}

/** Where agents connect to. */
export interface BridgePlace {
  readonly port: number;
  /** `port` 0 = there is none */
  readonly tls: { readonly port: number; readonly fingerprint: string };
}

/**
 * The command that runs a client's agent, for a POSIX shell: over TLS with the server's fingerprint pinned, where the server has that. The key goes
 * by the environment, so that other users of the machine do not see it in the list of processes.
 */
export function agentCommand(vkey: string, serverName: string, { port, tls }: BridgePlace): string {
  const place = tls.port > 0 ? `--server ${formatHostPort({ host: serverName, port: tls.port })} --tls-fingerprint ${tls.fingerprint}` : `--server ${formatHostPort({ host: serverName, port })}`;
  return `ADIT_VKEY=${quoted(vkey)} npx adit agent ${place}`;
}

/** A text as one word of a POSIX shell. */
function quoted(text: string): string {
  return /^[\w.-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
