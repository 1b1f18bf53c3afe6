import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { parseTarget, type Target } from '../../rules/targets.ts';
import type { HealthSettings } from '../../wire/health.ts';
import { errnoOf, messageOf } from '../../wire/system-error.ts';

/** Errors of this machine, which prove nothing about the target. */
const ownFaults: readonly string[] = ['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'];

/** A check could not be made because this machine lacks a resource. */
class CheckNotMadeError extends Error {
  override readonly name = 'CheckNotMadeError';
}

/**
 * Checks a target (host:port) once.
 * @returns what is wrong, for people; "" = the target is healthy, or `stopped` was aborted meanwhile
 * @throws {CheckNotMadeError} when this machine lacks a resource, such as a free socket
 */
export async function checkTarget(
  { type, path, timeoutMs }: Omit<HealthSettings, 'intervalMs' | 'maxFailed'>,
  text: string,
  stopped: AbortSignal,
): Promise<string> {
  const target = parseTarget(text);
  if (!target) return `${JSON.stringify(text)} is not a target`;
  const abort = new AbortController();
  const stop = (): void => abort.abort();
  const timer = setTimeout(stop, timeoutMs);
  stopped.addEventListener('abort', stop, { once: true });
  try {
    if (type === 'tcp') await connect(target, abort.signal);
    else {
      const status = await statusOf(target, path, abort.signal);
      if (status < 200 || status > 399) return `status ${status}`;
    }
    return '';
  } catch (error) {
    if (stopped.aborted) return '';
    if (ownFaults.includes(errnoOf(error))) throw new CheckNotMadeError(messageOf(error), { cause: error });
    return abort.signal.aborted ? `no answer within ${timeoutMs / 1000} s` : messageOf(error);
  } finally {
    clearTimeout(timer);
    stopped.removeEventListener('abort', stop);
  }
}

async function connect(target: Target, signal: AbortSignal): Promise<void> {
  const socket = net.connect({ ...target, signal });
  await once(socket, 'connect');
  // Later errors of the connection are no evidence about the target's health.
  socket.on('error', () => undefined).destroy();
}

/** The status of the response to a GET; doesn't wait for the body. */
function statusOf(target: Target, path: string, signal: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = http.get({ ...target, path, signal, agent: false, headers: { 'User-Agent': 'adit-agent (health check)' } }, (response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    request.on('error', reject);
  });
}
