import * as z from 'zod';

/** An error type of RFC 8555, 6.7. */
const TYPE = 'urn:ietf:params:acme:error:';
/** Error texts of an authority are truncated to this length. */
const MAX_TEXT = 500;

/** An error response of the certificate authority. */
export class AcmeProblem extends Error {
  override readonly name = 'AcmeProblem';
  /** The error type, such as `rateLimited`; "" = not given. */
  readonly reason: string;
  /** Retry-After, in ms; 0 = not given. */
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
 * The response in an error of the library's HTTP client.
 * @throws {AcmeProblem} unless the response is the expected one, or an error that the library handles itself
 */
export function answerOf(error: unknown): object {
  if (!(error instanceof Error)) throw error;
  const answer = 'response' in error ? error.response : undefined;
  if (typeof answer !== 'object' || answer === null) {
    throw new AcmeProblem(
      `the certificate authority cannot be reached: ${error.message === '' && 'code' in error ? String(error.code) : error.message}`,
      '',
      0,
    );
  }
  const { status, headers, data } = parts.parse(answer);
  const { type, detail } = body.safeParse(data).data ?? { type: '', detail: '' };
  if (status < 400 || type === `${TYPE}badNonce`) return answer;
  throw new AcmeProblem(detail === '' ? `the certificate authority answered with status ${status}` : detail, type, retryAfterMs(headers['retry-after'] ?? ''));
}

const parts = z.object({ status: z.number(), headers: z.object({ 'retry-after': z.string().optional() }), data: z.unknown() });

/** Seconds, or a date (RFC 9110, 10.2.3). */
function retryAfterMs(text: string): number {
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
}
