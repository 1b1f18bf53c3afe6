/** How long proxies wait, in ms. */
export interface ProxyTiming {
  /** For the agent to dial a visitor's target. */
  readonly dialMs: number;
  /** For the messages of a socks5 visitor up to its request; for the head of a request of httpProxy. */
  readonly headMs: number;
  /** For the next request of a visitor of httpProxy. */
  readonly idleMs: number;
  /** For a visitor that does not read a response. */
  readonly takeMs: number;
}

/** The times unless the settings, or tests, say otherwise. */
export const PROXY_TIMING: ProxyTiming = { dialMs: 10_000, headMs: 10_000, idleMs: 60_000, takeMs: 20_000 };
