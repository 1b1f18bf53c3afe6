import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import send from 'send';
import serveIndex from 'serve-index';
import { resolvedPath } from '../../rules/request-path.ts';
import { errnoOf, messageOf } from '../../wire/system-error.ts';
import type { ByteSocket } from '../../wire/socket.ts';
import { page } from './page.ts';
import { escapingLinks, servedPath, type Site, withoutPrefix } from './served-path.ts';
import { SocketDuplex } from './socket-duplex.ts';

/** Timeouts for visitors, in ms, and the maximum size of heads, in bytes. */
export interface FileLimits {
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  readonly keepAliveTimeout: number;
  /** Timeout without progress within a file. */
  readonly idleTimeout: number;
  readonly connectionsCheckingInterval: number;
}

const LIMITS: FileLimits = {
  headersTimeout: 15_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 30_000,
  idleTimeout: 120_000,
  connectionsCheckingInterval: 5000,
};
/** Time for a refused visitor to read the response, in ms. */
const CLOSE_DELAY_MS = 1000;
const MAX_HEAD = 16 * 1024;
const INDEX = 'index.html';

/** The handler of serve-index. Its types are those of Express, but it accepts Node's own requests and responses. */
interface Lister {
  list(request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void): void;
}

/** Serves files over HTTP, read-only, over the streams' connections, and only below directories that the agent's operator allows. */
export class FileServer {
  #roots: readonly string[];
  readonly #log: Logger;
  readonly #server: http.Server;
  /** The site of each connection. */
  readonly #sites = new WeakMap<object, Site>();

  /** @param roots directories that may be served, with their subdirectories */
  constructor(roots: readonly string[], log: Logger, limits: Partial<FileLimits> = {}) {
    this.#roots = roots;
    this.#log = log;
    const { idleTimeout, ...timeouts } = { ...LIMITS, ...limits };
    this.#server = http.createServer({ ...timeouts, maxHeaderSize: MAX_HEAD }, (request, response) => void this.#answer(request, response));
    // A visitor may end its direction right after the request.
    Object.assign(this.#server, { timeout: idleTimeout, httpAllowHalfOpen: true });
    this.#server.on('clientError', refuse);
    // Starts Node's check for slow heads, since this server doesn't listen.
    this.#server.emit('listening');
  }

  /** Replaces the directories that may be served. */
  allow(roots: readonly string[]): void {
    this.#roots = roots;
  }

  /** Serves a site to the visitor at the other end of `socket`. */
  serve(socket: ByteSocket, site: Site): void {
    const connection = new SocketDuplex(socket);
    this.#sites.set(connection, site);
    this.#server.emit('connection', connection);
  }

  /** Stops the timers. Call it when no connection is left. */
  close(): void {
    this.#server.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('X-Content-Type-Options', 'nosniff');
    try {
      const site = this.#sites.get(request.socket);
      if (!site) throw new Error('a connection without a site');
      await this.#serveFrom(site, request, response);
    } catch (error) {
      this.#log.warn(`a file could not be served: ${messageOf(error)}`);
      if (response.headersSent) response.destroy();
      else page(response, 500, 'The agent could not read this.');
    }
  }

  async #serveFrom(site: Site, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      page(response, 405, 'Files can be read here, nothing else.');
      return;
    }
    const pathname = pathOf(request.url ?? '');
    const below = pathname === undefined ? undefined : withoutPrefix(pathname, site.stripPrefix);
    if (pathname === undefined || below === undefined) {
      page(response, 404, 'There is nothing here.');
      return;
    }
    const found = await servedPath(site, await this.#realRoots(), below);
    switch (found.kind) {
      case 'notAllowed':
        this.#log.warn({ path: site.path }, 'a tunnel is set to serve a directory that does not exist or is not allowed: allow it with --allow-files DIR');
        page(response, 403, 'The operator of this agent does not allow this directory to be served, or it is not there. It is allowed with --allow-files DIR.');
        return;
      case 'missing':
        page(response, 404, 'There is nothing here.');
        return;
      case 'file':
        this.#sendFile(found.path, request, response);
        return;
      case 'directory':
        if (!below.endsWith('/')) redirect(response, `${pathname}/`);
        else await this.#sendDirectory(site, found, pathname, below, request, response);
    }
  }

  /** Serves the index file, if there is one that may be served; otherwise the list of files. */
  async #sendDirectory(
    site: Site,
    { root, path: directory }: { readonly root: string; readonly path: string },
    pathname: string,
    below: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const index = await servedPath(site, await this.#realRoots(), `${below}${INDEX}`);
    if (index.kind === 'file') {
      this.#sendFile(index.path, request, response);
      return;
    }
    // serve-index uses originalUrl for the displayed path and links, and url for the location.
    Object.assign(request, { originalUrl: pathname, url: `/${path.relative(root, directory).split(path.sep).map(encodeURIComponent).join('/')}` });
    const hidden = await escapingLinks(root, directory);
    const lister: Lister = { list: serveIndex(root, { icons: false, filter: (name) => !hidden.has(name) }) };
    lister.list(request, response, (error) => {
      if (error) this.#log.warn(`a directory could not be listed: ${messageOf(error)}`);
      page(response, error ? 500 : 404, error ? 'The agent could not read this.' : 'There is nothing here.');
    });
  }

  #sendFile(file: string, request: IncomingMessage, response: ServerResponse): void {
    send(request, encodeURIComponent(path.basename(file)), { root: path.dirname(file), index: false, dotfiles: 'allow' })
      .on(
        'error',
        (error: { readonly status?: number }) =>
          page(response, error.status ?? 500, error.status === 404 ? 'There is nothing here.' : 'The agent can not answer this.'),
      )
      .pipe(response);
  }

  /** Resolved for each request: a root may be a link, or be created later. */
  async #realRoots(): Promise<string[]> {
    const found = await Promise.allSettled(this.#roots.map((root) => realpath(root)));
    return found.flatMap((result) => result.status === 'fulfilled' ? [result.value] : []);
  }
}

/** Responds to an invalid request, and closes when the response was read. */
function refuse(error: Error, socket: Duplex): void {
  if (!socket.writable) return;
  const code = errnoOf(error);
  const status = code === 'HPE_HEADER_OVERFLOW' ? 431 : code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  socket.end(`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  setTimeout(() => socket.destroy(), CLOSE_DELAY_MS).unref();
}

/** The path of a request's target, still encoded, with dot segments resolved; undefined = it has none. */
function pathOf(target: string): string | undefined {
  const [, rest = ''] = /^(?:https?:\/\/[^/?#]*)?([^?#]*)/i.exec(target) ?? [];
  return rest.startsWith('/') ? resolvedPath(rest) : undefined;
}

/** A redirect to a path of the same host, also if the path begins with two slashes. */
function redirect(response: ServerResponse, to: string): void {
  response.setHeader('Location', to.replace(/^\/+/, '/'));
  page(response, 301, 'This is a directory.');
}
