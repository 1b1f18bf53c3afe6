import { type RequestHandler, Router } from 'express';
import type { Logger } from 'pino';
import { AditError } from '../schema/errors.ts';

/** Checks by name. A check fails while its part of the server doesn't work. */
export type HealthChecks = Readonly<Record<string, () => void | Promise<void>>>;

/** Why a check fails, in words that anyone may read. */
export class NotReadyError extends Error {
  override readonly name = 'NotReadyError';
}

/** Timeout of a check, in ms. */
const timeoutMs = 2000;

/**
 * `/healthz`: the process responds. `/readyz`: every check passes; a 503 names the checks that fail, with their error codes or what anyone
 * may know of the reasons; the log contains all of them.
 */
export function healthRoutes(checks: HealthChecks, log: Logger): RequestHandler {
  return Router()
    .get('/healthz', (_request, response) => {
      response.set('Cache-Control', 'no-store').json({ status: 'ok' });
    })
    .get('/readyz', async (_request, response) => {
      const results = await Promise.all(
        Object.entries(checks).map(async ([name, check]) => {
          const failure = await failureOf(check);
          if (failure !== undefined) log.warn({ ...noteOf(failure), check: name }, 'not ready');
          return { name, failure };
        }),
      );
      const failed = results.filter(({ failure }) => failure !== undefined);
      response.set('Cache-Control', 'no-store').status(failed.length === 0 ? 200 : 503);
      if (failed.length === 0) {
        response.json({ status: 'ready' });
        return;
      }
      const codes = failed.flatMap(({ name, failure }) => failure instanceof AditError ? [[name, failure.code] as const] : []);
      const reasons = failed.flatMap(({ name, failure }) => failure instanceof NotReadyError ? [[name, failure.message] as const] : []);
      response.json({
        status: 'not ready',
        failed: failed.map(({ name }) => name),
        ...codes.length > 0 && { codes: Object.fromEntries(codes) },
        ...reasons.length > 0 && { reasons: Object.fromEntries(reasons) },
      });
    });
}

function noteOf(failure: unknown): object {
  if (failure instanceof AditError) return { code: failure.code };
  return failure instanceof NotReadyError ? { reason: failure.message } : { err: failure };
}

async function failureOf(check: HealthChecks[string]): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    await Promise.race([(async () => check())(), late]);
    return undefined;
  } catch (error) {
    return error ?? new Error('failed without saying why');
  } finally {
    clearTimeout(timer);
  }
}
