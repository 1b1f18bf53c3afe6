import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type RequestHandler, Router } from 'express';
import { packageFile } from '../package-file.ts';

/** The addresses of the panel's pages; the panel itself decides what each shows (src/panel/routes.tsx). */
const pages = [
  '/',
  '/login/index',
  ...[
    'account',
    'audit',
    'clients',
    'diagnosis',
    'hosts',
    'lockouts',
    'platform-domains',
    'sessions',
    'settings',
    'tokens',
    'tunnels',
    'users',
    'wall',
    'welcome',
  ].map((page) => `/${page}{/*rest}`),
  // Addresses of the legacy API whose callers open a page (contract D3).
  '/index/hostdiagnose',
  '/global/index',
];

/** The pages load scripts, styles and data from this server, and nothing else. Nothing in them is inline. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The forms of a file that src/prepare/panel.mjs compressed, best first: by the name of the encoding. */
const encodings = [['br', '.br'], ['gzip', '.gz']] as const;

/**
 * Responds with a document that `src/prepare/panel.mjs` wrote.
 * @param directory that it was written to
 */
export function panelDocument(name: string, basePath: string, directory: URL = packageFile('dist/panel/')): RequestHandler {
  const html = readFileSync(new URL(name, directory), 'utf8').replaceAll('%BASE%', basePath);
  return (_request, response) => {
    // Without Referrer-Policy, browsers without scripts would not send the login form's origin.
    response.set({ 'Content-Security-Policy': policy, 'Cache-Control': 'no-cache', 'Referrer-Policy': 'same-origin' }).type('html').send(html);
  };
}

/**
 * The panel: its pages, the page at `/api` that tries the legacy API, and below `/panel/` their scripts and styles. The names of these contain a hash of their content, so that browsers may keep them.
 * @param directory that `src/prepare/panel.mjs` wrote
 */
export function panelRoutes({ basePath }: { readonly basePath: string }, directory: URL = packageFile('dist/panel/')): RequestHandler {
  const assets = new URL('assets/', directory);
  const names: ReadonlySet<string> = new Set(readdirSync(assets).filter((name) => /\.(js|css)$/.test(name)));

  const sendAsset: RequestHandler<{ name: string }> = (request, response, next) => {
    const { name } = request.params;
    if (!names.has(name)) return next();
    const [encoding, suffix] = encodings.find(([each, end]) => request.acceptsEncodings(each) !== false && existsSync(new URL(name + end, assets))) ?? [];
    response.set({ 'Cache-Control': 'public, max-age=31536000, immutable', Vary: 'Accept-Encoding' }).type(
      name.endsWith('.js') ? 'text/javascript' : 'text/css',
    );
    if (encoding !== undefined) response.set('Content-Encoding', encoding);
    // Relative to the directory: express sends no file whose path has a component that begins with a dot, where the program itself may be.
    response.sendFile(name + (suffix ?? ''), { root: fileURLToPath(assets), lastModified: false });
  };
  return Router().get(pages, panelDocument('index.html', basePath, directory)).get('/api', panelDocument('api.html', basePath, directory)).get(
    '/panel/:name',
    sendAsset,
  );
}
