import { type RequestHandler, Router } from 'express';
import { page } from './page.ts';

/**
 * The pages for browsers until there is a panel: they explain what this server is and what you can use. They contain no script and load
 * nothing.
 */
export function pageRoutes(): RequestHandler {
  return Router()
    .get(
      '/',
      page(
        'Adit',
        `<p>A reverse-tunnel server. It is managed over its API:</p>
<ul>
<li><a href="./graphql">GraphQL</a>, with an editor in the browser; <a href="./login/index">log in</a> first</li>
<li>the signed HTTP API: <code>/client/…</code>, <code>/index/…</code>, <code>/auth/…</code>, <a href="./api">described and ready to be tried</a></li>
</ul>`,
      ),
    )
    .get(
      ['/index/hostdiagnose', '/index/hostdiagnose/'],
      page(
        'Host diagnosis',
        `<p>This server has no web panel yet. Programs POST <code>host</code>,
<code>path</code> and <code>scheme</code> here; a person can ask <code>diagnoseHost</code> in the GraphQL editor at <code>/graphql</code>.</p>`,
      ),
    )
    .get(
      ['/global/index', '/global/index/'],
      page(
        'Global settings',
        `<p>This server has no web panel yet. Programs read the settings here and save them
at <code>/global/save/</code>; a person can use <code>globalSettings</code> in the GraphQL editor at <code>/graphql</code>.</p>`,
      ),
    );
}
