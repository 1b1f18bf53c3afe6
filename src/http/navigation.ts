import type { Request } from 'express';

/**
 * Whether a person opens a page in a browser. Only then may a 401 ask for name and password by HTTP Basic: for a request by a script, the browser
 * would open its login dialog in the middle of the page's work.
 */
export function isNavigation(request: Request): boolean {
  if (request.method !== 'GET' && request.method !== 'HEAD') return false;
  const mode = request.get('sec-fetch-mode');
  return mode === undefined ? (request.get('accept') ?? '').includes('text/html') : mode === 'navigate';
}
