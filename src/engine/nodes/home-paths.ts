import type { Opener } from '../../wire/stream.ts';
import type { Environment } from '../environment.ts';
import { AwaitedHomes } from './awaited-homes.ts';
import { HomeOpener } from './home-opener.ts';
import type { Homes } from './homes.ts';
import type { NodeLink } from './node-link.ts';
import type { NodeLinks } from './node-links.ts';
import type { NodeRequests } from './node-requests.ts';

/** What the paths depend on. */
export interface HomePathsParts {
  readonly environment: Environment;
  readonly requests: NodeRequests;
  /** The name of this node. */
  readonly own: string;
  readonly homes: Homes;
  readonly links: NodeLinks;
  /** The node that is home of a client, with or without an agent, whether it can be reached or not. */
  readonly homeOf: (clientId: number) => string;
  /** @see OtherNodes.isHome */
  readonly isHome: (clientId: number) => boolean;
  /** There are other nodes that an agent could connect to. */
  readonly hasOthers: () => boolean;
}

/** How the connections of visitors get to the home of their client, or wait for it. */
export class HomePaths {
  readonly #parts: HomePathsParts;
  /** Homes that agents come to. */
  readonly #awaited: AwaitedHomes;
  /** Homes of clients for which a server dials the targets. */
  readonly #unreached: AwaitedHomes;

  constructor(parts: HomePathsParts) {
    this.#parts = parts;
    this.#awaited = new AwaitedHomes((clientId, ...given) => {
      const link = this.linkTo(clientId);
      return link ? this.#opener(link, clientId).open(...given) : parts.requests.open(clientId, ...given);
    }, parts.environment.log);
    this.#unreached = new AwaitedHomes((clientId, payload, dataFollows, credit, visitor) => {
      const opener = this.#openerToHome(clientId);
      if (opener) return opener.open(payload, dataFollows, credit, visitor);
      return visitor && parts.requests.open(clientId, payload, dataFollows, credit, { ...visitor, passedOn: true });
    }, parts.environment.log);
  }

  /** @see Nodes.linkTo */
  linkTo(clientId: number): NodeLink | undefined {
    const home = this.#parts.homes.get(clientId);
    return home?.connected === true && home.node !== this.#parts.own ? this.#parts.links.get(home.node) : undefined;
  }

  /** @see OtherNodes.openerTo */
  openerTo(clientId: number, localProxy: boolean): Opener | undefined {
    const { environment, links, isHome } = this.#parts;
    if (localProxy) {
      if (isHome(clientId)) return undefined;
      const opener = this.#openerToHome(clientId);
      if (!opener) this.#unreached.lost(clientId);
      return opener ?? this.#unreached.opener(clientId);
    }
    const link = this.linkTo(clientId);
    if (link && links.answers(link.peer.name)) return this.#opener(link, clientId);
    return environment.clients.get(clientId)?.session ? undefined : this.#awaited.opener(clientId);
  }

  #openerToHome(clientId: number): Opener | undefined {
    const { homeOf, links } = this.#parts;
    const link = links.get(homeOf(clientId));
    return link && this.#opener(link, clientId);
  }

  #opener(link: NodeLink, clientId: number): HomeOpener {
    return new HomeOpener(link, clientId, this.#parts.environment.clients.get(clientId)?.wanted.crypt ?? true);
  }

  /** Other nodes can be home than before: connections that waited for one go on if there is a home that can be reached. */
  again(): void {
    for (const clientId of this.#unreached.clients) this.#tryAgain(clientId);
  }

  #tryAgain(clientId: number): void {
    if (this.#parts.isHome(clientId) || this.#openerToHome(clientId)) this.#unreached.found(clientId);
  }

  /** Where the client's agent is has changed, or whether that node answers: connections wait for an agent that is nowhere, unless it has ended. */
  changed(clientId: number): void {
    const { homes, links, own, hasOthers } = this.#parts;
    const home = homes.get(clientId);
    const nowhere = home && (home.connected ? home.node !== own && !links.answers(home.node) : !home.ended);
    if (nowhere && hasOthers()) this.#awaited.lost(clientId);
    else this.#awaited.found(clientId);
    if (this.#unreached.opener(clientId)) this.#tryAgain(clientId);
  }

  /** A node seems to be frozen, or no longer: connections to its clients wait, and their agents are notified if they have a session with this node in reserve. */
  quiet(node: string, quiet: boolean): void {
    for (const [clientId, { connected }] of this.#parts.homes.of(node)) {
      if (!connected) continue;
      this.changed(clientId);
      if (quiet) this.#parts.environment.clients.get(clientId)?.standby?.doubt();
    }
  }

  /** Refuses all that wait. */
  close(): void {
    this.#awaited.close();
    this.#unreached.close();
  }
}
