import type { EngineChange, WantedTunnel } from '../../src/engine/face.ts';
import type { NodeOptions } from '../../src/engine/other-nodes.ts';
import { eventually } from './eventually.ts';
import { openTunnel, startEngine, type TestEngine } from './tunnel.ts';

/** The secret of the installation that nodes under test belong to. */
export const NODE_KEY = 'the-secret-of-the-installation';

/** A node under test. */
export interface TestNode extends TestEngine {
  readonly name: string;
}

/** How a node is started. */
type StartedNode = NonNullable<Parameters<typeof startEngine>[0]> & Pick<Partial<NodeOptions>, 'key' | 'settings' | 'links' | 'siblings' | 'clock'> & {
  readonly startedAt?: number;
};

/** Starts an engine that is a node, without others. */
export async function startNode(
  name: string,
  { key = NODE_KEY, startedAt = 0, settings, links, siblings, clock, ...options }: StartedNode = {},
): Promise<TestNode> {
  const started = await startEngine({
    node: { name, version: '0.0.1', key, ...settings && { settings }, ...links && { links }, ...siblings && { siblings }, ...clock && { clock } },
    ...options,
  });
  started.engine.nodes?.open({ host: '127.0.0.1', port: started.bridge.tls.port, bridgePort: started.bridge.port }, startedAt);
  return { ...started, name };
}

/** Starts nodes of one installation, and waits until each can reach every other one. */
export async function startNodes(names: readonly string[], options: StartedNode = {}): Promise<TestNode[]> {
  const nodes: TestNode[] = [];
  for (const name of names) nodes.push(await startNode(name, options));
  meet(nodes);
  for (const node of nodes) await eventually(() => reached(node), (others) => others.length === names.length - 1);
  return nodes;
}

/** Tells each node where the others are. */
export function meet(nodes: readonly TestNode[]): void {
  const peers = nodes.map(({ name, bridge }) => ({ name, host: '127.0.0.1', port: bridge.tls.port, bridgePort: bridge.port }));
  for (const { engine } of nodes) engine.nodes?.use(peers, performance.now());
}

/** The names of the nodes that a node can reach. */
export function reached({ engine }: TestNode): string[] {
  return Array.from(engine.nodes?.links() ?? [], ({ peer }) => peer.name).toSorted();
}

/** Opens a tunnel on all nodes, as the log of changes does; each has another port, since they share a machine. @returns it as each node has it */
export async function openEverywhere(nodes: readonly TestNode[], tunnel: Partial<WantedTunnel>): Promise<WantedTunnel[]> {
  const opened: WantedTunnel[] = [];
  for (const node of nodes) opened.push(await openTunnel(node, opened[0] ? { ...opened[0], port: 0 } : tunnel));
  return opened;
}

/** Applies a change on all nodes. */
export async function applyEverywhere(nodes: readonly TestNode[], change: EngineChange): Promise<void> {
  for (const { engine } of nodes) await engine.apply(change);
}
