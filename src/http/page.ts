import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';

const style = 'body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}code{background:#8882;padding:.1em .3em}';

/**
 * A small page. It may use its one style and its one script, call and send forms to this server, and load nothing.
 * @param body HTML
 * @param script JavaScript; blank = none, and then it calls nobody
 */
export function page(title: string, body: string, script = ''): RequestHandler {
  const allowed = script === '' ? ["form-action 'none'"] : [`script-src ${hashOf(script)}`, "connect-src 'self'", "form-action 'self'"];
  const policy = ["default-src 'none'", `style-src ${hashOf(style)}`, ...allowed, "base-uri 'none'", "frame-ancestors 'none'"].join('; ');
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
<style>${style}</style></head>
<body><h1>${title}</h1>
${body}
${script === '' ? '' : `<script type="module">${script}</script>\n`}</body></html>
`;
  return (_request, response) => {
    response.set('Content-Security-Policy', policy).type('html').send(html);
  };
}

/** As a content security policy names a style or a script. */
export function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
