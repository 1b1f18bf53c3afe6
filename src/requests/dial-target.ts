import { parseTarget } from '../rules/targets.ts';
import type { ByteSocket, SocketBackend } from '../wire/socket.ts';
import { messageOf } from '../wire/system-error.ts';

/** How long one target may take to answer, in ms, before the next one is tried. One that refuses costs no time. */
export const DIAL_TIMEOUT_MS = 5000;

/** None of the targets could be dialled; the message says why for each, `cause` is the system's error of the last. */
export class NoTargetError extends Error {
  override readonly name = 'NoTargetError';
}

/**
 * Connects to the first of `targets` (host:port, [IPv6]:port, or a port of this machine) that answers.
 * @throws {NoTargetError}
 */
export async function dial(
  sockets: SocketBackend, targets: readonly string[], timeoutMs: number = DIAL_TIMEOUT_MS,
): Promise<ByteSocket> {
  const problems: string[] = [];
  let cause: unknown;
  for (const text of targets) {
    const target = parseTarget(text);
    if (!target) {
      problems.push(`${JSON.stringify(text)} is no target`);
      continue;
    }
    try {
      return await sockets.connect({ ...target, timeoutMs });
    } catch (error) {
      cause = error;
      problems.push(`${text}: ${messageOf(error)}`);
    }
  }
  throw new NoTargetError(problems.join('; '), { cause });
}
