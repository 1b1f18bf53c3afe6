import { isIP } from 'node:net';
import { hostOfUrl } from './host-name.ts';

/**
 * The names under which people reach the server itself, its panel and its API: what the settings say, `localhost`, and every IP address,
 * since a request for an address only arrives here if the address is the server's. A host with such a name could read the panel's
 * cookies and show its own login page, so only administrators give one to a host.
 */
export class OwnNames {
  readonly #names: ReadonlySet<string>;

  /** @param urls URLs or hosts, with or without a port, as the settings have them; "" = none. Never from a request. */
  constructor(urls: readonly string[] = []) {
    this.#names = new Set(['localhost', ...urls.map(hostOfUrl).filter((name) => name !== '')]);
  }

  /** Whether a name is one of them. @param name as rules/host-name.ts spells it; a wildcard is none */
  has(name: string): boolean {
    return isIP(name) !== 0 || this.#names.has(name);
  }

  /** Whether a host rule, a wildcard too, may take requests for a name, and order certificates for it. @param name as in {@link has} */
  mayAnswer({ namedByAdmin }: { readonly namedByAdmin: boolean }, name: string): boolean {
    return namedByAdmin || !this.has(name);
  }
}
