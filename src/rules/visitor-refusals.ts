/** Why a request was not served: the status, and who can fix it. The texts reveal no internals. */
export const refusals = {
  malformed: { status: 400, title: 'Bad request', text: 'The request is malformed. If a program sent it, its author can fix this.' },
  forbidden: {
    status: 403,
    title: 'Not for this address',
    text: 'This site does not accept visitors from your address. Its owner decides which addresses are allowed.',
  },
  unauthorized: { status: 401, title: 'Name and password, please', text: 'The owner of this site gives them out.' },
  notListed: { status: 401, title: 'This site asks for a password', text: 'Visitors from your address need it. The owner of this site gives it out.' },
  wrongPassword: { status: 401, title: 'Wrong password', text: 'The owner of this site gives out the right one.' },
  noRoute: { status: 404, title: 'No such site', text: 'No site is set up here under this name and path. Check the address; its owner can set it up.' },
  timeout: { status: 408, title: 'Too slow', text: 'The request did not arrive in time. Try again.' },
  misdirected: { status: 421, title: 'Misdirected request', text: 'This connection is for another site. A browser asks again on a new one.' },
  tooMany: {
    status: 429,
    title: 'Too many connections',
    text: 'This site has as many visitors as it may have at once. Try again in a moment; its owner can raise the limit.',
  },
  tooManyTries: { status: 429, title: 'Too many tries', text: 'Wait a minute, then try again.' },
  tooLarge: { status: 431, title: 'The request is too long', text: 'Its head has too many or too long lines.' },
  notImplemented: { status: 501, title: 'Not implemented', text: 'The server does not support what the request asks for.' },
  refused: {
    status: 502,
    title: 'The site does not answer properly',
    text: 'The program behind this site refused the connection or broke it off. Its owner can fix this.',
  },
  offline: { status: 503, title: 'The site is away', text: 'The machine behind this site is not connected, or was switched off. Its owner can fix this.' },
  unread: { status: 503, title: 'Too much waits', text: 'More responses wait for your address than it reads. Try again when they have come.' },
  unhealthy: {
    status: 503,
    title: 'The site is out of order',
    text: 'No program behind this site passes its health checks at the moment. Its owner can fix this.',
  },
  exhausted: { status: 503, title: 'The site has used up its traffic', text: 'Its owner, or the operator of this server, can raise the limit.' },
  silent: { status: 504, title: 'The site does not answer', text: 'The program behind this site did not answer in time. Its owner can fix this.' },
  version: { status: 505, title: 'HTTP version not supported', text: 'Only HTTP/1.0 and HTTP/1.1 are supported.' },
} as const;

/** Why a visitor's request to a host was not served. */
export type Refusal = keyof typeof refusals;
