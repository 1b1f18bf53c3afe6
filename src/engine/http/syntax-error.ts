/** A message that this server does not accept as HTTP/1.x. `status` answers such a request; such a response results in a 502. */
export class HttpSyntaxError extends Error {
  override readonly name = 'HttpSyntaxError';
  readonly status: 400 | 431 | 501 | 505;

  constructor(message: string, status: 400 | 431 | 501 | 505 = 400) {
    super(message);
    this.status = status;
  }
}
