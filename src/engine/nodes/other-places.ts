import { MAX_OTHER_SERVERS, type OtherServer } from '../../wire/other-servers.ts';
import type { NodePlace } from './node-link.ts';

/** The other nodes, from the one after this on: if there are many, each node tells of different ones. */
export function otherPlaces(own: string, nodes: readonly NodePlace[]): OtherServer[] {
  const others = nodes.filter(({ name }) => name !== own).toSorted((one, other) => one.name < other.name ? -1 : 1);
  const after = others.filter(({ name }) => name > own);
  return [...after, ...others.slice(0, others.length - after.length)].slice(0, MAX_OTHER_SERVERS)
    .map(({ host, bridgePort, port }) => ({ host, port: bridgePort, tlsPort: port }));
}
