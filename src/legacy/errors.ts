import type { Logger } from 'pino';
import { AditError, type ErrorCode, fieldName, isOutage, maskedError } from '../schema/errors.ts';

/**
 * An endpoint's own texts for some errors, by code, or by code and kind of record: `NOT_FOUND client`. The text of any other
 * error is the one of the schema's error table, which holds the family's (contract D26).
 */
export type FailureTexts = Partial<Record<ErrorCode | `NOT_FOUND ${Resource}`, FailureText>>;

/** A text, or how it is made of the schema's. */
type FailureText = string | ((message: string) => string);

/** The kinds of records that calls name by their id. */
export type Resource = 'client' | 'tunnel' | 'host' | 'user';

/** The legacy parameter behind each field of a GraphQL input, so that callers read the names they sent. */
export type FieldNames = Readonly<Record<string, string>>;

/** Refuses the value of a legacy parameter (contract D31, D32). @param reason reads on after "invalid <parameter>: " */
export function invalidParameter(name: string, reason = ''): AditError {
  return new AditError('INVALID_INPUT', { field: name, reason });
}

/**
 * What a failed call is told (contract 2.2, 2.4, D5, D17, D31).
 * @param fields absent = the error names parameters already
 */
export function failureText({ code, message, params }: AditError, texts: FailureTexts = {}, fields: FieldNames = {}): string {
  if (code === 'NOT_FOUND') {
    const { resource } = params;
    const known = resource === 'client' || resource === 'tunnel' || resource === 'host' || resource === 'user' ? texts[`NOT_FOUND ${resource}`] : undefined;
    return textOf(known ?? texts[code], message);
  }
  if (code === 'INVALID_INPUT') {
    const field = fieldName(String(params['field']));
    const name = fields[field] ?? field;
    if (name === 'expire_time') return 'invalid expiration time';
    return params['reason'] ? `invalid ${name}: ${params['reason']}` : `invalid ${name}`;
  }
  return textOf(texts[code], message);
}

function textOf(text: FailureText | undefined, message: string): string {
  return typeof text === 'function' ? text(message) : text ?? message;
}

/** HTTP status of a failure: a refused business call is a 200 (contract 0.1, D25). */
export function failureStatus(code: ErrorCode): number {
  switch (code) {
    case 'FORBIDDEN':
    case 'FOREIGN_ORIGIN': return 403;
    case 'UNAUTHENTICATED': return 401;
    case 'TOO_MANY_OPERATIONS': return 429;
    case 'INTERNAL': return 500;
    default: return isOutage(code) ? 503 : 200;
  }
}

/** The error of our own table behind whatever was thrown. Anything else is logged, and the caller gets its id in the log. */
export function knownError(thrown: unknown, log: Logger, path: string): AditError {
  const cause = thrown instanceof Error && 'originalError' in thrown ? thrown.originalError : thrown;
  if (cause instanceof AditError) return cause;
  return maskedError(cause ?? thrown, log, 'a legacy call failed', { path });
}
