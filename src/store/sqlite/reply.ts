/** How a request is answered: once, in either way. */
export interface Reply {
  resolve(result?: unknown): void;
  reject(error: unknown): void;
}

/** Answers with what a function returns or throws. */
export function settle(reply: Reply, run: () => unknown): void {
  let result: unknown;
  try {
    result = run();
  } catch (error) {
    return reply.reject(error);
  }
  reply.resolve(result);
}
