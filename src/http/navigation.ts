import type { Request } from 'express';

/**
 * Whether a person opens a page in a browser. Only then a 401 may ask for name and password by HTTP Basic: to what a page requests by
 * itself the browser would show its dialog, in the middle of the page's own work.
 */
export function isNavigation(request: Request): boolean {
  if (request.method !== 'GET' && request.method !== 'HEAD') return false;
  const mode = request.get('sec-fetch-mode');
  return mode === undefined ? (request.get('accept') ?? '').includes('text/html') : mode === 'navigate';
}
