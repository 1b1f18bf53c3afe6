import type { Logger } from 'pino';
import type { ErrorCode } from '../schema/error-codes.ts';
import { AditError, fieldName, isOutage, maskedError } from '../schema/errors.ts';

/**
 * The texts of an endpoint for some errors, by code, or by code and kind of record: `NOT_FOUND client`. Other errors
 * have the text of the schema's error table, which contains the texts of the legacy API (contract D26).
 */
export type FailureTexts = Partial<Record<ErrorCode | `NOT_FOUND ${Resource}`, FailureText>>;

/** A text, or a function that derives it from the schema's text. */
type FailureText = string | ((message: string) => string);

/** The kinds of records that calls identify by id. */
export type Resource = 'client' | 'tunnel' | 'host' | 'user';

/** The legacy parameter for each field of a GraphQL input, so that errors use the caller's names. */
export type FieldNames = Readonly<Record<string, string>>;

/** The error for an invalid legacy parameter (contract D31, D32). @param reason continues "invalid <parameter>: " */
export function invalidParameter(name: string, reason = ''): AditError {
  return new AditError('INVALID_INPUT', { field: name, reason });
}

/**
 * The message for a failed call (contract 2.2, 2.4, D5, D17, D31).
 * @param fields absent = the error already names parameters
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

/** The HTTP status of a failure: 200 for a call that a business rule refuses (contract 0.1, D25). */
export function failureStatus(code: ErrorCode): number {
  switch (code) {
    case 'FORBIDDEN':
    case 'FOREIGN_ORIGIN':
      return 403;
    case 'UNAUTHENTICATED':
      return 401;
    case 'TOO_MANY_OPERATIONS':
      return 429;
    case 'INTERNAL':
      return 500;
    default:
      return isOutage(code) ? 503 : 200;
  }
}

/** The table's error for a thrown error. Unknown errors are logged, and the caller gets the id of the log entry. */
export function knownError(thrown: unknown, log: Logger, path: string): AditError {
  const cause = thrown instanceof Error && 'originalError' in thrown ? thrown.originalError : thrown;
  if (cause instanceof AditError) return cause;
  return maskedError(cause ?? thrown, log, 'a legacy call failed', { path });
}
