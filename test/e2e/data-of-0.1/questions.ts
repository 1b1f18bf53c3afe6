import type { Parameters } from '../../support/processes.ts';

/** The ports in the stored data; a test replaces them by free ones. */
export const PORTS = { tunnel: 27_001, target: 27_002, udp: 27_003 } as const;

/** Calls whose answers have everything that version 0.1 shows. */
export const QUESTIONS: ReadonlyArray<{ readonly route: string; readonly parameters: Parameters }> = [
  { route: '/user/list/', parameters: { limit: 100 } },
  { route: '/client/list/', parameters: { limit: 100 } },
  { route: '/index/gettunnel/', parameters: { limit: 100 } },
  { route: '/index/hostlist/', parameters: { limit: 100 } },
];
