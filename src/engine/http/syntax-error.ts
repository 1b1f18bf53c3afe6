/** A message that is not HTTP/1.x as this server takes it. `status` is the answer to a request that is so; a response that is so makes a 502. */
export class HttpSyntaxError extends Error {
  override readonly name = 'HttpSyntaxError';
  readonly status: 400 | 431 | 501 | 505;

  constructor(message: string, status: 400 | 431 | 501 | 505 = 400) {
    super(message);
    this.status = status;
  }
}
