import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Request, Response } from 'express';
import { exampleTabs } from './graphiql-examples.ts';

/** The editor's page, ready to send. */
interface Page {
  readonly html: string;
  readonly zipped: Buffer;
  readonly policy: string;
}

let made: Promise<Page> | undefined;

/**
 * Responds with the GraphiQL editor. The page contains 9 MB of script and is rarely requested, so it is built on the first
 * request. It is self-contained, and may load nothing from other servers.
 */
export async function sendGraphiql(request: Request, response: Response): Promise<void> {
  const { html, zipped, policy } = await (made ??= makePage());
  response.set({ 'Content-Security-Policy': policy, 'Cache-Control': 'private, no-cache', Vary: 'Accept, Accept-Encoding' }).type('html');
  if (request.acceptsEncodings('gzip')) response.set('Content-Encoding', 'gzip').send(zipped);
  else response.send(html);
}

async function makePage(): Promise<Page> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const html = renderGraphiQL({ title: 'Adit GraphQL', credentials: 'same-origin', defaultTabs: exampleTabs });
  const scripts = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`);
  const policy = [
    "default-src 'none'", `script-src ${scripts.join(' ')}`, "style-src 'unsafe-inline'", "img-src 'self' data:", 'font-src data:',
    "connect-src 'self'", 'worker-src blob: data:', "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'",
  ].join('; ');
  return { html, zipped: await promisify(gzip)(html), policy };
}
