import type { ErrorRequestHandler, RequestHandler } from 'express';
import type { Logger } from 'pino';
import { isOutage, maskedError } from '../schema/errors.ts';

/** The response for an unknown path, in the legacy format (contract section 0). */
export const answerNotFound: RequestHandler = (_request, response) => {
  response.status(404).json({ status: 0, msg: 'not found' });
};

/**
 * The response to a request that failed outside the API's own error handling: one line in the legacy format. Errors of
 * the server are logged with an id, and the caller gets only the id.
 */
export function answerError(log: Logger): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (response.headersSent) return next(error);
    const status = clientFault(error);
    if (status !== undefined) {
      response.status(status).json({ status: 0, msg: texts[status] ?? 'bad request' });
      return;
    }
    const { code, message } = maskedError(error, log, 'a request failed', { method: request.method, path: request.path });
    response.status(isOutage(code) ? 503 : 500).json({ status: 0, msg: message });
  };
}

const texts: Readonly<Record<number, string>> = {
  400: 'the request is malformed',
  413: 'the request body is larger than 256 KB',
  415: 'the encoding of the request body is not supported',
};

/** Express and its parsers mark errors of the client with a status below 500. */
function clientFault(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('status' in error) || typeof error.status !== 'number') return undefined;
  return error.status >= 400 && error.status < 500 ? error.status : undefined;
}
