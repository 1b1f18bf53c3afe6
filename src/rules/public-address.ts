import { bracketed, formatHostPort } from './host-port.ts';
import { isWildcard } from './host-name.ts';
import { shellWord } from './shell-word.ts';

/** The columns of a host that determine its public URLs. */
export interface PublicHost {
  readonly host: string;
  readonly location: string;
  readonly scheme: string;
  /** HTTP requests are redirected to HTTPS. */
  readonly autoHttps: boolean;
}

/** The ports on which the server serves hosts; 0 = none. */
export interface HostPorts {
  readonly httpPort: number;
  readonly httpsPort: number;
}

/** The URLs at which visitors reach a host, https first. A wildcard has none, since its names are unknown. */
export function publicUrls({ host, location, scheme, autoHttps }: PublicHost, { httpPort, httpsPort }: HostPorts): string[] {
  if (isWildcard(host)) return [];
  const schemes = [
    ...(scheme !== 'http' && httpsPort > 0 ? [urlOf('https', host, httpsPort, 443)] : []),
    ...(scheme !== 'https' && !(autoHttps && httpsPort > 0) && httpPort > 0 ? [urlOf('http', host, httpPort, 80)] : []),
  ];
  return schemes.map((origin) => `${origin}${encodeURI(location)}`);
}

function urlOf(scheme: string, host: string, port: number, usual: number): string {
  return `${scheme}://${port === usual ? bracketed(host) : formatHostPort({ host, port })}`;
}

/** Listen addresses that mean all addresses of the machine. */
const everywhere: ReadonlySet<string> = new Set(['', '0.0.0.0', '::']);

/**
 * The address at which visitors reach a tunnel; null = it has no port, or the server's public name is not configured.
 * @param serverName the server's name or address; '' = unknown
 */
export function publicAddress({ port, serverIp }: { readonly port: number; readonly serverIp: string }, serverName: string): string | null {
  const host = everywhere.has(serverIp) ? serverName : serverIp;
  return port === 0 || host === '' ? null : formatHostPort({ host, port });
}

/** The address that agents connect to. */
export interface BridgePlace {
  readonly port: number;
  /** `port` 0 = no TLS port */
  readonly tls: { readonly port: number; readonly fingerprint: string };
}

/**
 * The command that runs a client's agent, for a POSIX shell, in the directory of the file that the server serves (src/http/agent-files.ts): over TLS with the server's
 * fingerprint pinned, if the server has a TLS port. Not with npx, which would download whatever package has that name. The key is passed in the environment, so that
 * other users of the machine don't see it in the process list.
 */
export function agentCommand(vkey: string, serverName: string, { port, tls }: BridgePlace): string {
  const server = shellWord(formatHostPort({ host: serverName, port: tls.port > 0 ? tls.port : port }));
  return `ADIT_VKEY=${shellWord(vkey)} node adit-agent.mjs agent --server ${server}${tls.port > 0 ? ` --tls-fingerprint ${shellWord(tls.fingerprint)}` : ''}`;
}
