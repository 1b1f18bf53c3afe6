import type { Side } from './side.ts';

/** Nothing in between: what the load and the target make of datagrams by themselves. */
export const direct: Side = {
  name: 'direct',
  programs: [],
  start: async ({ udp }) => ({ name: 'direct', ports: { udp }, pids: [], stop: async () => undefined }),
};
