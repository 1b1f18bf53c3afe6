import { createHash } from 'node:crypto';
import { type RequestHandler, Router } from 'express';
import { describeApi } from '../legacy/openapi.ts';
import { routes } from '../legacy/routes.ts';

/** `/openapi.json`: the description of the legacy API, generated from its table of routes. The page at `/api` makes forms of it (`src/panel/api-page`). */
export function apiDescriptionRoutes(options: { readonly basePath: string; readonly version: string }): RequestHandler {
  // Generated once, with its ETag, since it is public and may be requested any number of times.
  const description = Buffer.from(JSON.stringify(describeApi(routes, options)));
  const tag = `"${createHash('sha256').update(description).digest('base64url')}"`;
  return Router().get('/openapi.json', (_request, response) => {
    response.set({ 'Cache-Control': 'no-cache', ETag: tag }).type('json').send(description);
  });
}
