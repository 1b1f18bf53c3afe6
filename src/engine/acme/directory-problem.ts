import { z } from 'zod';

/** A reason of the authority in the words of RFC 8555, 6.7. */
const TYPE = 'urn:ietf:params:acme:error:';
/** No text of an authority is longer when it is told. */
const MAX_TEXT = 500;

/** What a certificate authority answered instead of what was asked for. */
export class DirectoryProblem extends Error {
  override readonly name = 'DirectoryProblem';
  /** Such as `rateLimited`; "" = not said. */
  readonly reason: string;
  /** How long it wants to be left alone, in ms; 0 = not said. */
  readonly retryAfterMs: number;

  constructor(text: string, type: string, retryAfterMs: number) {
    // oxlint-disable-next-line no-control-regex
    super(text.replace(/[\0-\x1f\x7f]+/g, ' ').slice(0, MAX_TEXT));
    this.reason = type.startsWith(TYPE) ? type.slice(TYPE.length) : '';
    this.retryAfterMs = retryAfterMs;
  }
}

const body = z.object({ type: z.string().default(''), detail: z.string().default('') });

/**
 * The answer that an error of the library's HTTP client holds.
 * @throws {DirectoryProblem} unless it is what was asked for, or what the library mends itself
 */
export function answerOf(error: unknown): object {
  if (!(error instanceof Error)) throw error;
  const answer = 'response' in error ? error.response : undefined;
  if (typeof answer !== 'object' || answer === null) {
    throw new DirectoryProblem(`the certificate authority cannot be reached: ${error.message === '' && 'code' in error ? String(error.code) : error.message}`, '', 0);
  }
  const { status, headers, data } = parts.parse(answer);
  const { type, detail } = body.safeParse(data).data ?? { type: '', detail: '' };
  if (status < 400 || type === `${TYPE}badNonce`) return answer;
  throw new DirectoryProblem(detail === '' ? `the certificate authority answered with status ${status}` : detail, type, retryAfterMs(headers['retry-after'] ?? ''));
}

const parts = z.object({ status: z.number(), headers: z.object({ 'retry-after': z.string().optional() }), data: z.unknown() });

/** Seconds, or a date (RFC 9110, 10.2.3). */
function retryAfterMs(text: string): number {
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
}
