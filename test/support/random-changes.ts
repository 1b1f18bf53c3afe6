import { z } from 'zod';
import { graphql, type TogetherServer } from './several-servers.ts';

/** Most tunnels, and most hosts, at a time. */
const MOST = 60;

/** What the changes are about. */
export interface RandomChangesOptions {
  readonly clientId: number;
  /** Ports and names that tunnels and hosts may have. */
  readonly ports: readonly number[];
  readonly names: readonly string[];
  /** Their targets. */
  readonly tunnelTargets: readonly string[];
  readonly hostTargets: readonly string[];
  /** Called after a tunnel was created, which no further change touches until this is done. */
  readonly onListener: (port: number, by: TogetherServer) => Promise<void>;
}

type Kind = 'Tunnel' | 'Host';
const made = z.object({ made: z.object({ id: z.string() }) });

/** Changes of tunnels, hosts and a client, at random, each by a server that is named for it. What they end with is for the database to say. */
export class RandomChanges {
  readonly #options: RandomChangesOptions;
  /** Records that exist, as far as the answers say. */
  readonly #ids: Readonly<Record<Kind, string[]>> = { Tunnel: [], Host: [] };
  /** Acknowledged creations without a requested deletion: nothing may have lost them. */
  readonly kept: Readonly<Record<Kind, Set<string>>> = { Tunnel: new Set(), Host: new Set() };
  /** Changes that succeeded; others by their errors. */
  done = 0;
  readonly failed = new Map<string, number>();

  constructor(options: RandomChangesOptions) {
    this.#options = options;
  }

  /** Makes one change. */
  async change(by: TogetherServer): Promise<void> {
    try {
      await this.#one(by);
      this.done++;
    } catch (error) {
      const text = /"code":"(\w+)"/.exec(String(error))?.[1] ?? String(error);
      this.failed.set(text, (this.failed.get(text) ?? 0) + 1);
    }
  }

  async #one(by: TogetherServer): Promise<void> {
    const kind: Kind = Math.random() < 0.5 ? 'Tunnel' : 'Host';
    const ids = this.#ids[kind];
    const dice = Math.random();
    if (dice < 0.1) {
      await graphql(by, `mutation { updateClient(id: ${this.#options.clientId}, input: { remark: "${dice}" }) { id } }`);
    } else if (ids.length < MOST / 2 || ids.length < MOST && dice < 0.4) await this.#create(kind, by);
    else {
      const id = oneOf(ids);
      if (dice < 0.6) {
        ids.splice(ids.indexOf(id), 1);
        this.kept[kind].delete(id);
        await graphql(by, `mutation { delete${kind}(id: ${id}) }`);
      } else if (dice < 0.8) await graphql(by, `mutation { ${dice < 0.7 ? 'stop' : 'start'}${kind}(id: ${id}) { id } }`);
      else await graphql(by, `mutation { update${kind}(id: ${id}, input: { targets: ["${this.#target(kind)}"] }) { id } }`);
    }
  }

  async #create(kind: Kind, by: TogetherServer): Promise<void> {
    const { clientId, ports, names, onListener } = this.#options;
    const port = oneOf(ports);
    const own = kind === 'Tunnel' ? `mode: TCP, port: ${port}` : `scheme: HTTP, host: "${oneOf(names)}"`;
    const query = `mutation { made: create${kind}(input: { clientId: ${clientId}, ${own}, targets: ["${this.#target(kind)}"] }) { id } }`;
    const { made: { id } } = made.parse(await graphql(by, query));
    this.kept[kind].add(id);
    if (kind === 'Tunnel') await onListener(port, by);
    this.#ids[kind].push(id);
  }

  #target(kind: Kind): string {
    return oneOf(kind === 'Tunnel' ? this.#options.tunnelTargets : this.#options.hostTargets);
  }
}

function oneOf<T>(list: readonly T[]): T {
  const one = list[Math.floor(Math.random() * list.length)];
  if (one === undefined) throw new Error('there is none to choose from');
  return one;
}
