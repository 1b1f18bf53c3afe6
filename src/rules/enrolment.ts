import { formatHostPort } from './host-port.ts';

/** How the API can be reached from other machines in a way that they can trust. */
export interface TrustedApi {
  /** The URL below which the API's paths are, without a slash at its end; it begins with https://. */
  readonly url: string;
  /** The pin of the server's own key, for certificates that no authority signed; "" = an authority signed it. */
  readonly pin: string;
}

/** What the server knows about its API. */
export interface ApiPlace {
  /** The URL from outside, from the settings; "" = unknown. */
  readonly publicUrl: string;
  readonly basePath: string;
  /** The server's own HTTPS; undefined = it only serves HTTP, perhaps behind a proxy that serves HTTPS. `pin`: as in {@link TrustedApi}. */
  readonly ownTls: { readonly port: number; readonly pin: string } | undefined;
}

/**
 * Where other machines reach the API over HTTPS. @param serverName the server's public name or address; "" = unknown
 * @returns undefined = nowhere that is known
 */
export function trustedApi({ publicUrl, basePath, ownTls }: ApiPlace, serverName: string): TrustedApi | undefined {
  const pin = ownTls?.pin ?? '';
  if (publicUrl.startsWith('https://')) return { url: withBase(publicUrl, basePath), pin };
  if (ownTls === undefined || serverName === '') return undefined;
  const address = formatHostPort({ host: serverName, port: ownTls.port });
  return { url: `https://${ownTls.port === 443 ? address.replace(/:443$/, '') : address}${basePath}`, pin };
}

/** The setting is either the whole URL or only its origin. */
function withBase(url: string, basePath: string): string {
  const { origin, pathname } = new URL(url);
  const path = pathname.replace(/\/+$/, '');
  return `${origin}${path === '' ? basePath : path}`;
}

/** The line that installs an agent on a machine, for a POSIX shell. `--insecure` only turns off the check that the pin replaces. */
export function installCommand({ url, pin }: TrustedApi, code: string): string {
  const pinned = pin === '' ? '' : `--insecure --pinnedpubkey '${pin}' `;
  return `curl -fsSL ${pinned}'${url}/agent/install.sh' | sh -s -- ${code}`;
}
