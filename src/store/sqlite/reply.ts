/** Answers a request, once: with a result or an error. */
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
