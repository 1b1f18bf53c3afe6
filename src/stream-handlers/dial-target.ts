import { parseTarget } from '../rules/targets.ts';
import type { ByteSocket, OnDialled, SocketBackend } from '../wire/socket.ts';
import { messageOf } from '../wire/system-error.ts';

/** Timeout for dialing one target before the next one is tried, in ms. A target that refuses the connection costs no time. */
export const DIAL_TIMEOUT_MS = 5000;

/** None of the targets could be dialed. The message has the reason for each; `cause` is the system's error of the last one. */
export class NoTargetError extends Error {
  override readonly name = 'NoTargetError';
}

/**
 * Connects to the first of `targets` (host:port, [IPv6]:port, or a port of this machine) that answers. Uses callbacks instead of promises, since
 * an agent does this for every visitor's connection.
 * @param timeoutMs for each target
 * @param onDialled called once with the socket or a {NoTargetError}, possibly before this returns
 */
export function dialFirst(sockets: SocketBackend, targets: readonly string[], timeoutMs: number, onDialled: OnDialled): void {
  dialFrom(0, undefined);

  /** @param failed the results for the targets before `first`; undefined = there were none */
  function dialFrom(first: number, failed: { readonly problems: string[]; cause: unknown } | undefined): void {
    for (let at = first; at < targets.length; at++) {
      const text = targets[at] ?? '';
      const target = parseTarget(text);
      if (target) {
        sockets.dial({ host: target.host, port: target.port, timeoutMs }, (outcome) => {
          if (!(outcome instanceof Error)) {
            onDialled(outcome);
            return;
          }
          failed ??= { problems: [], cause: undefined };
          failed.problems.push(`${text}: ${messageOf(outcome)}`);
          failed.cause = outcome;
          dialFrom(at + 1, failed);
        });
        return;
      }
      failed ??= { problems: [], cause: undefined };
      failed.problems.push(`${JSON.stringify(text)} is not a target`);
    }
    onDialled(new NoTargetError(failed?.problems.join('; ') ?? 'the list is empty', { cause: failed?.cause }));
  }
}

/**
 * The same as a promise.
 * @throws {NoTargetError}
 */
export function dial(sockets: SocketBackend, targets: readonly string[], timeoutMs: number = DIAL_TIMEOUT_MS): Promise<ByteSocket> {
  return new Promise((resolve, reject) => {
    dialFirst(sockets, targets, timeoutMs, (outcome) => outcome instanceof Error ? reject(outcome) : resolve(outcome));
  });
}
