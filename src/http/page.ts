import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';

const style = 'body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}code{background:#8882;padding:.1em .3em}';

/**
 * A small page. It may use its own style and script, call this server, and send forms to it. It may load nothing else.
 * @param body HTML
 * @param script JavaScript; blank = none, and the page may make no calls
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

/** The hash of a style or script for the content security policy. */
export function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
