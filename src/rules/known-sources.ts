/** Names remembered; beyond that, the name whose secret was given longest ago is forgotten. */
const NAMES = 10_000;
/** Addresses remembered for one name, so that one name can't displace the addresses of others. */
const ADDRESSES = 32;

/** The addresses from which the right secret of a name was given before. Forgotten when the server stops. */
export class KnownSources {
  readonly #names = new Map<string, Set<string>>();

  add(name: string, address: string): void {
    const addresses = this.#names.get(name) ?? new Set();
    addresses.delete(address);
    addresses.add(address);
    this.#names.delete(name);
    this.#names.set(name, addresses);
    if (addresses.size > ADDRESSES) dropOldest(addresses);
    if (this.#names.size > NAMES) dropOldest(this.#names);
  }

  has(name: string, address: string): boolean {
    return this.#names.get(name)?.has(address) ?? false;
  }
}

function dropOldest(entries: Map<string, unknown> | Set<string>): void {
  for (const oldest of entries.keys()) {
    entries.delete(oldest);
    return;
  }
}
