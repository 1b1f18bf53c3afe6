import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type RequestHandler, Router } from 'express';
import { describeApi } from '../legacy/openapi.ts';
import { routes } from '../legacy/routes.ts';
import { packageFile } from '../package-file.ts';

/**
 * `/openapi.json`: the description of the legacy API, generated from its table of routes. `/api`: a page to try it, which only loads
 * that description and sends calls as the logged-in user or with a token that the user enters.
 */
export function apiDescriptionRoutes(options: { readonly basePath: string; readonly version: string }): RequestHandler {
  // Generated once, with its ETag, since it is public and may be requested any number of times.
  const description = Buffer.from(JSON.stringify(describeApi(routes, options)));
  const tag = `"${createHash('sha256').update(description).digest('base64url')}"`;
  const [html = '', style = '', script = ''] = ['page.html', 'page.css', 'page.js'].map((name) =>
    readFileSync(packageFile(`src/http/try-api/${name}`), 'utf8')
  );
  const page = `<!doctype html>
<html lang="en" data-base="${options.basePath}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Adit API</title>
<style>${style}</style><script type="module">${script}</script></head>
<body>
${html}</body></html>
`;
  const policy = [
    "default-src 'none'",
    `style-src ${hashOf(style)}`,
    `script-src ${hashOf(script)}`,
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return Router()
    .get('/openapi.json', (_request, response) => {
      response.set({ 'Cache-Control': 'no-cache', ETag: tag }).type('json').send(description);
    })
    .get('/api', (_request, response) => {
      response.set({ 'Content-Security-Policy': policy, 'Cache-Control': 'no-cache' }).type('html').send(page);
    });
}

/** The hash of a style or script for the content security policy. */
function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
