import { afterAll } from '@jest/globals';
import { once } from 'node:events';
import express from 'express';
import { type CallerOptions, createCallers } from '../../src/http/callers.ts';
import { forwardedFields } from '../../src/http/forwarded.ts';
import { createGraphql } from '../../src/http/graphql.ts';
import { createLegacyRouter, type LegacyOptions } from '../../src/legacy/router.ts';
import { sign } from '../../src/legacy/signature.ts';
import { Attempts } from '../../src/rules/attempts.ts';
import { createContext } from '../../src/schema/context.ts';
import { schema } from '../../src/schema/schema.ts';
import { createServices } from '../../src/schema/services.ts';
import { apart } from './apart.ts';
import { cheapPasswords } from './cheap-passwords.ts';
import type { TestDatabases } from './database.ts';
import type { TestStore } from './test-store.ts';
import { emptyStore } from './empty-store.ts';
import { FakeEngine } from './engine.ts';
import { LogRecorder } from './log-recorder.ts';
import { ownEngines } from './own-engines.ts';
import { schemaSettings } from './schema-settings.ts';

/** How the parameters of a call travel. */
export type Encoding = 'urlencoded' | 'multipart' | 'json' | 'query';

/** Parameters as a caller has them; numbers and booleans travel as such in JSON. */
export type CallParameters = Readonly<Record<string, string | number | boolean>>;

/** How a call differs from a form sent by POST. */
export interface CallOptions {
  readonly method?: string;
  readonly encoding?: Encoding;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer: `body` is the parsed JSON, or the text of anything else. */
export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** The legacy API on a port of its own, with a store of its own. */
export interface Api {
  /** http://127.0.0.1:PORT and the base path */
  readonly url: string;
  /** 127.0.0.1:PORT */
  readonly host: string;
  readonly store: TestStore;
  readonly engine: FakeEngine;
  readonly log: LogRecorder;
  /** Failed guesses of passwords. */
  readonly attempts: Attempts;
  /** The server's time in ms; undefined = the real one. */
  readonly clock: { now: number | undefined };
  /** A call as an administrator: signed for the server's time. */
  signed(path: string, parameters?: CallParameters, options?: CallOptions): Promise<ApiAnswer>;
  /** A call with exactly these parameters. */
  call(path: string, parameters?: CallParameters, options?: CallOptions): Promise<ApiAnswer>;
  /** Makes store and engine as new, so that the next test finds no record and ids begin at 1. */
  reset(): Promise<void>;
  /** Makes all but the store as new. */
  forget(): void;
  /** Ends all subscriptions. */
  endSubscriptions(): void;
}

/** The key that `signed` signs with, unless the settings say otherwise. */
export const testAuthKey = 'the key of the tests';
/** The password of `admin`. */
export const testAdminPassword = 'the password of the tests';

/** The settings a test may choose. */
export type ApiSettings = LegacyOptions['settings'] & CallerOptions['settings'] & {
  readonly allowLocalProxy: boolean;
  readonly trustedProxies: readonly string[];
};

/** Starts the API while a suite runs. */
export interface TestApis {
  /** With settings of its own, over real HTTP and an empty database of its own. */
  start(settings?: Partial<ApiSettings>): Promise<Api>;
}

/**
 * The APIs of the `describe` that it is called in; they are stopped when the suite ends. Passwords are hashed cheaply, unless the suite wants real ones.
 *
 *     const apis = testApis(testDatabases('sqlite'));
 *     test('...', async () => {
 *       const api = await apis.start();
 *       expect((await api.signed('/client/add/', { remark: 'a' })).body).toEqual({ status: 1, msg: 'add success', id: 1 });
 *     });
 */
export function testApis(databases: TestDatabases, { realPasswords = false }: { readonly realPasswords?: boolean } = {}): TestApis {
  if (!realPasswords) cheapPasswords();
  const stops: Array<() => Promise<void>> = [];
  afterAll(() => Promise.all(stops.map((stop) => stop())));
  return {
    async start(settings) {
      const { stop, ...api } = await startApi(await databases.openEmpty(), settings);
      stops.push(stop);
      return api;
    },
  };
}

async function startApi(store: TestStore, settings: Partial<ApiSettings> = {}): Promise<Api & { stop: () => Promise<void> }> {
  const engine = new FakeEngine();
  ownEngines.set(store, engine);
  const log = new LogRecorder();
  const clock: Api['clock'] = { now: undefined };
  const now = () => clock.now ?? Date.now();
  const services = createServices({
    store,
    engine: apart(engine),
    attempts: new Attempts(),
    freshState: () => Promise.resolve(),
    log: log.logger,
    now,
    settings: {
      version: '0.0.0',
      bridge: { port: 8024, tls: { port: 8025, fingerprint: 'ab'.repeat(32) } },
      hostPorts: { httpPort: 80, httpsPort: 443 },
      allowLocalProxy: settings.allowLocalProxy ?? false,
      acmeDirectory: '',
      startedAt: 0,
      allowPorts: [],
      adminUsername: 'admin',
      retention: schemaSettings.retention,
      publicUrl: '',
      versionKey: 'key',
      api: { publicUrl: '', basePath: '', ownTls: undefined },
    },
  });
  const used = {
    authKey: testAuthKey,
    authCryptKey: 'sixteen letters.',
    apiAuthFailureStatus: 401,
    basePath: '',
    adminUsername: 'admin',
    adminPassword: testAdminPassword,
    allowVkeyLogin: false,
    allowLocalProxy: false,
    trustedProxies: [],
    ...settings,
  } as const;
  const callers = createCallers({ services, settings: used });
  const legacy = createLegacyRouter({
    schema,
    log: log.logger,
    now,
    settings: used,
    callers,
    nextSlice: (address) => services.timeSlices.next(address),
    contextFor: (caller) => createContext(services, caller),
  });
  const app = express().disable('x-powered-by').set('trust proxy', used.trustedProxies).use(forwardedFields(used.trustedProxies)).use(
    used.basePath === '' ? '/' : used.basePath,
    legacy,
    express.Router().use('/graphql', createGraphql({ services, settings: used, callers })),
  );
  const server = app.listen(0, '127.0.0.1');
  // On a slow machine fetch would now and then use a connection that is being closed for having been idle.
  server.keepAliveTimeout = 0;
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the API listens on no port');

  const forget = () => {
    services.attempts.free({ kind: 'address', source: '127.0.0.1' }, now());
    for (
      const state of [
        engine.clients,
        engine.wantedClients,
        engine.wantedTunnels,
        engine.wantedHosts,
        engine.taken,
        engine.forbidden,
        engine.broken,
        engine.refusals,
        engine.health,
      ]
    ) state.clear();
  };
  const host = `127.0.0.1:${address.port}`;
  const url = `http://${host}${used.basePath}`;
  const call: Api['call'] = (path, parameters = {}, options = {}) => send(`${url}${path}`, parameters, options);
  return {
    url,
    host,
    store,
    engine,
    log,
    clock,
    call,
    attempts: services.attempts,
    signed: (path, parameters, options) => call(path, { ...signature(used.authKey, now()), ...parameters }, options),
    async reset() {
      await emptyStore(store);
      forget();
    },
    forget,
    endSubscriptions: () => services.live.close(),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The two parameters that sign a call at a time in ms. */
export function signature(authKey: string, at: number): { auth_key: string; timestamp: number } {
  const timestamp = Math.floor(at / 1000);
  return { auth_key: sign(authKey, timestamp), timestamp };
}

async function send(url: string, parameters: CallParameters, { method = 'POST', encoding = 'urlencoded', headers = {} }: CallOptions): Promise<ApiAnswer> {
  const texts = Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)]);
  const query = encoding === 'query' ? `?${new URLSearchParams(texts).toString()}` : '';
  const response = await fetch(`${url}${query}`, { method, redirect: 'manual', ...bodyOf(texts, parameters, encoding, headers) });
  const text = await response.text();
  const isJson = response.headers.get('content-type') === 'application/json; charset=utf-8';
  return { status: response.status, headers: response.headers, body: isJson && text !== '' ? JSON.parse(text) : text };
}

function bodyOf(texts: Array<[string, string]>, parameters: CallParameters, encoding: Encoding, headers: Readonly<Record<string, string>>) {
  switch (encoding) {
    case 'query':
      return { headers };
    case 'urlencoded':
      return { headers, body: new URLSearchParams(texts) };
    case 'json':
      return { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(parameters) };
    case 'multipart': {
      const body = new FormData();
      for (const [name, value] of texts) body.append(name, value);
      return { headers, body };
    }
  }
}
