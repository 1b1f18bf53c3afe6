import { type RequestHandler, Router } from 'express';
import type { Logger } from 'pino';
import { AditError } from '../schema/errors.ts';

/** Checks by name. A check fails while its part of the server doesn't work. */
export type HealthChecks = Readonly<Record<string, () => void | Promise<void>>>;

/** Timeout of a check, in ms. */
const timeoutMs = 2000;

/**
 * `/healthz`: the process responds. `/readyz`: every check passes; a 503 names the checks that fail, with their error codes, and
 * the log contains the reasons.
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
          if (failure !== undefined) log.warn(failure instanceof AditError ? { code: failure.code, check: name } : { err: failure, check: name }, 'not ready');
          return { name, failed: failure !== undefined, code: failure instanceof AditError ? failure.code : undefined };
        }),
      );
      const failed = results.filter((result) => result.failed).map((result) => result.name);
      const codes = Object.fromEntries(results.filter(({ code }) => code !== undefined).map(({ name, code }) => [name, code]));
      response.set('Cache-Control', 'no-store').status(failed.length === 0 ? 200 : 503);
      response.json(failed.length === 0 ? { status: 'ready' } : { status: 'not ready', failed, ...(Object.keys(codes).length > 0 && { codes }) });
    });
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
