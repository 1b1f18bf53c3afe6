import { createHash } from 'node:crypto';
import { type RequestHandler, Router } from 'express';

const style = 'body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}code{background:#8882;padding:.1em .3em}';

/** The pages may use this one style, and nothing else. */
const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; frame-ancestors 'none'`;

/**
 * The pages that a browser finds until there is a panel: what this server is, and the target of the redirect for those who
 * aren't logged in (contract D1). They hold no script and load nothing.
 */
export function pageRoutes(): RequestHandler {
  return Router()
    .get('/', page('Adit', `<p>A reverse-tunnel server. It is managed over its API:</p>
<ul>
<li><a href="./graphql">GraphQL</a>, with an editor in the browser, for the administrator</li>
<li>the signed HTTP API: <code>/client/…</code>, <code>/index/…</code>, <code>/auth/…</code>, <a href="./api">described and ready to be tried</a></li>
</ul>`))
    .get('/login/index', page('Not logged in', `<p>This server has no web panel yet, so there is nowhere to log in.</p>
<p>Programs sign their calls with <code>auth_key</code> and <code>timestamp</code>. A person can use the
<a href="../graphql">GraphQL editor</a> with the administrator's name and password.</p>`))
    .get(['/index/hostdiagnose', '/index/hostdiagnose/'], page('Host diagnosis', `<p>This server has no web panel yet. Programs POST <code>host</code>,
<code>path</code> and <code>scheme</code> here; a person can ask <code>diagnoseHost</code> in the GraphQL editor at <code>/graphql</code>.</p>`))
    .get(['/global/index', '/global/index/'], page('Global settings', `<p>This server has no web panel yet. Programs read the settings here and save them
at <code>/global/save/</code>; a person can use <code>globalSettings</code> in the GraphQL editor at <code>/graphql</code>.</p>`));
}

function page(title: string, body: string): RequestHandler {
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
<style>${style}</style></head>
<body><h1>${title}</h1>
${body}
</body></html>
`;
  return (_request, response) => {
    response.set('Content-Security-Policy', policy).type('html').send(html);
  };
}
