import { once } from 'node:events';
import type { Server } from 'node:http';
import { afterAll } from '@jest/globals';
import pino from 'pino';
import { agentFiles } from '../../src/http/agent-files.ts';
import { type AppOptions, createApp } from '../../src/http/app.ts';
import { auditDownload } from '../../src/http/audit-download.ts';
import { createCallers } from '../../src/http/callers.ts';
import { createGraphql } from '../../src/http/graphql.ts';
import { createHttpServer } from '../../src/http/server.ts';
import type { ServiceParts } from '../../src/schema/services.ts';
import { testDatabases } from './database.ts';
import { openTestSchema, type TestSchema } from './schema.ts';

/** The HTTP application on a port of its own. */
export interface TestApp {
  /** http://127.0.0.1:PORT and the base path */
  readonly url: string;
  readonly api: TestSchema;
  /** Open ones. */
  readonly connections: number;
  /** An operation by POST, as the administrator by Basic unless the headers say otherwise. */
  graphql(body: unknown, headers?: Record<string, string>): Promise<Response>;
}

/** Who may log in at a test application. */
export const credentials = { authKey: 'the key of the tests', adminUsername: 'admin', adminPassword: 'pass:wörd' };

/** The header of HTTP Basic. */
export function basic(username = credentials.adminUsername, password = credentials.adminPassword): { authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
}

/** Starts applications in the suite that it is called in, and stops them when it ends. */
export function testApps(): (options?: Partial<AppOptions & Pick<ServiceParts, 'now'> & { readonly stalledMs: number }>) => Promise<TestApp> {
  const databases = testDatabases('sqlite');
  const servers: Server[] = [];
  afterAll(() =>
    Promise.all(servers.map(async (server) => {
      const closed = once(server.close(), 'close');
      server.closeAllConnections();
      await closed;
    }))
  );
  return async ({ settings = { basePath: '', trustedProxies: [] }, now, stalledMs, log = pino({ level: 'silent' }), ...options } = {}) => {
    const api = await openTestSchema(databases, {}, now);
    const own = { ...credentials, allowVkeyLogin: false, basePath: settings.basePath };
    const callers = createCallers({ services: api.services, settings: own });
    const graphql = createGraphql({ services: api.services, settings: own, callers, stalledMs });
    const app = createApp({
      settings,
      graphql,
      legacy: (_request, _response, next) => next(),
      metrics: (_request, _response, next) => next(),
      auditDownload: auditDownload(api.services, callers, log),
      agents: agentFiles(api.services, { dataDir: '/nowhere' }),
      overTls: false,
      health: {},
      version: '1.2.3',
      log,
      ...options,
    });
    const server = createHttpServer(app, undefined, stalledMs).listen(0, '127.0.0.1');
    let connections = 0;
    server.on('connection', (socket) => {
      connections++;
      socket.once('close', () => connections--);
    });
    servers.push(server);
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the application listens on no port');
    const url = `http://127.0.0.1:${address.port}${settings.basePath}`;
    return {
      url,
      api,
      get connections() {
        return connections;
      },
      graphql: (body, headers = basic()) =>
        fetch(`${url}/graphql`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: typeof body === 'string' ? body : JSON.stringify(body),
        }),
    };
  };
}
