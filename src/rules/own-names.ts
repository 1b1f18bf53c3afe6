import { isIP } from 'node:net';
import { hostOfUrl } from './host-name.ts';

/**
 * The names of the server itself, its panel and its API: those in the settings, `localhost`, and every IP address,
 * since a request for an address only arrives here if the address is the server's. A host with such a name could read the panel's
 * cookies and show a fake login page, so only administrators may give such a name to a host.
 */
export class OwnNames {
  readonly #names: ReadonlySet<string>;

  /** @param urls URLs or hosts, with or without a port, from the settings; "" = none. Never from a request. */
  constructor(urls: readonly string[] = []) {
    this.#names = new Set(['localhost', ...urls.map(hostOfUrl).filter((name) => name !== '')]);
  }

  /** Whether a name is one of them. @param name in the spelling of rules/host-name.ts; a wildcard is not a name */
  has(name: string): boolean {
    return isIP(name) !== 0 || this.#names.has(name);
  }

  /** Whether a host rule, which may be a wildcard, may serve requests for a name and order certificates for it. @param name as in {@link has} */
  mayAnswer({ namedByAdmin }: { readonly namedByAdmin: boolean }, name: string): boolean {
    return namedByAdmin || !this.has(name);
  }
}
