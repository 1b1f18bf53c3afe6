import express, { type Express, type RequestHandler } from 'express';
import type { Logger } from 'pino';
import type { Settings } from '../settings/settings.ts';
import { apiDescriptionRoutes } from './api-description.ts';
import { answerError, answerNotFound } from './errors.ts';
import { forwardedFields } from './forwarded.ts';
import { securityHeaders, strictTransport } from './headers.ts';
import { type HealthChecks, healthRoutes } from './health.ts';
import { panelRoutes } from './panel.ts';

/** The parts of the HTTP app. */
export interface AppOptions {
  readonly settings: Pick<Settings, 'basePath' | 'trustedProxies'>;
  /** `/graphql`, see {@link createGraphql}. */
  readonly graphql: RequestHandler;
  /** The legacy endpoints. The handler reads bodies itself, and calls `next` for unknown paths. */
  readonly legacy: RequestHandler;
  /** `/metrics`. */
  readonly metrics: RequestHandler;
  /** The download of the audit log. */
  readonly auditDownload: RequestHandler;
  /** The files that install agents, and their enrolment. */
  readonly agents: RequestHandler;
  /** This server serves HTTPS itself. */
  readonly overTls: boolean;
  /** The checks that must pass for the server to be ready, by name. */
  readonly health: HealthChecks;
  /** The program's version. */
  readonly version: string;
  readonly log: Logger;
}

/** Callers append paths to a base address that ends in a slash. Repeated slashes after the base path are the legacy router's. */
const oneSlash: RequestHandler = (request, _response, next) => {
  if (request.url.startsWith('//')) request.url = request.url.replace(/^\/+/, '/');
  next();
};

/** The handler of all HTTP requests, below the base path. */
export function createApp({ settings, graphql, legacy, metrics, auditDownload, agents, overTls, health, version, log }: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('trust proxy', settings.trustedProxies);
  app.use(securityHeaders, forwardedFields(settings.trustedProxies));
  if (overTls) app.use(strictTransport);
  if (settings.basePath !== '') app.use(oneSlash);

  const routes = express.Router();
  routes.use(legacy);
  routes.use('/graphql', graphql);
  routes.use(healthRoutes(health, log));
  routes.use(metrics);
  routes.use(auditDownload);
  routes.use('/agent', agents);
  routes.use(apiDescriptionRoutes({ basePath: settings.basePath, version }));
  routes.use(panelRoutes(settings));
  app.use(settings.basePath, routes);

  app.use(answerNotFound);
  app.use(answerError(log));
  return app;
}
