import type { OtherNodes } from '../../src/engine/other-nodes.ts';

/** Other nodes that are home of nobody; what is not given does nothing. */
export function otherNodes(given: Partial<OtherNodes>): OtherNodes {
  return {
    reaches: () => true,
    openerTo: () => undefined,
    isHome: () => false,
    upToDate: async () => true,
    counts: () => true,
    agentConnected: () => undefined,
    agentDisconnected: () => undefined,
    health: () => undefined,
    allowed: () => undefined,
    forget: () => undefined,
    ...given,
  };
}
