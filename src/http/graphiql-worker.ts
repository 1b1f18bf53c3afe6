import { createHash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import { exampleTabs } from './graphiql-examples.ts';
import type { GraphiqlPage } from './graphiql.ts';

/* Builds the page of the GraphiQL editor, in a worker of graphiql.ts: to load, hash and compress 9 MB of script takes half a second. */

if (parentPort === null) throw new Error('this worker is started by graphiql.ts');
const html = renderGraphiQL({ title: 'Adit GraphQL', credentials: 'same-origin', defaultTabs: exampleTabs });
const scripts = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, script = '']) =>
  `'sha256-${createHash('sha256').update(script).digest('base64')}'`
);
const page: GraphiqlPage = {
  html: new TextEncoder().encode(html),
  zipped: new Uint8Array(gzipSync(html)),
  tag: `"${createHash('sha256').update(html).digest('base64url')}"`,
  policy: [
    "default-src 'none'",
    `script-src ${scripts.join(' ')}`,
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    'font-src data:',
    "connect-src 'self'",
    'worker-src blob: data:',
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; '),
};
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker, not a window
parentPort.postMessage(page);
