import type http from 'node:http';
import type https from 'node:https';
import type { Departure } from './departure.ts';
import type { LocalFace } from './engine/local-face.ts';
import { agentFiles } from './http/agent-files.ts';
import { createApp } from './http/app.ts';
import { auditDownload } from './http/audit-download.ts';
import { createCallers } from './http/callers.ts';
import { createGraphql } from './http/graphql.ts';
import { NotReadyError } from './http/health.ts';
import { metricsRoute } from './http/metrics.ts';
import { createHttpServer, holdToShares } from './http/server.ts';
import { sharedCheck } from './http/shared-check.ts';
import { createLegacyRouter } from './legacy/router.ts';
import type { Logs } from './log.ts';
import type { ShareLimits } from './rules/connection-shares.ts';
import { createContext } from './schema/context.ts';
import { AditError } from './schema/errors.ts';
import { schema } from './schema/schema.ts';
import type { Services } from './schema/services.ts';
import type { HttpTls } from './settings/http-tls.ts';
import type { Settings } from './settings/settings.ts';
import { databaseFailure } from './store/database-failure.ts';
import { version } from './version.ts';

/** Maximum connections to the API. */
export const API_SHARES: ShareLimits = { total: 4096, perAddress: 512 };

/** The server of the API, with the panel: not listening yet. @param node this server's name */
export function createApi(
  settings: Settings,
  services: Services,
  engine: LocalFace,
  logs: Logs,
  departure: Departure,
  node: string,
  tls: HttpTls | undefined,
): http.Server | https.Server {
  const { store, live } = services;
  departure.signal.addEventListener('abort', () => live.close());
  const callers = createCallers({ services, settings });
  const app = createApp({
    settings,
    graphql: createGraphql({ services, settings, callers }),
    legacy: createLegacyRouter({
      schema,
      settings,
      callers,
      log: logs('legacy'),
      nextSlice: (address) => services.timeSlices.next(address),
      contextFor: (caller) => createContext(services, caller),
    }),
    metrics: metricsRoute({ numbers: () => numbersOf(engine, services, departure) }, callers, { version, node }),
    health: {
      database: sharedCheck(() =>
        store.ping().catch((error: unknown) => {
          const failure = databaseFailure(error);
          throw failure === undefined ? error : new AditError(failure);
        })
      ),
      server: () => departure.check(),
      settings: async () => {
        const [different] = (await engine.differentSettings()).filter(({ isOlder }) => isOlder);
        if (different) throw new NotReadyError(`${different.settings.join(', ')}: not as on the server ${different.node}, which was started earlier`);
      },
    },
    auditDownload: auditDownload(services, callers, logs('http')),
    agents: agentFiles(services, settings),
    overTls: tls !== undefined,
    version,
    log: logs('http'),
  });
  const server = createHttpServer(app, tls?.identity);
  holdToShares(server, API_SHARES, settings.trustedProxies);
  return server;
}

/** The figures of the engine and of the changes that it follows. */
async function numbersOf(engine: LocalFace, { store, unapplied }: Services, departure: Departure) {
  const { counts, ...numbers } = await engine.numbers();
  const { seq, lagMs } = store.follower.figures;
  const own = {
    unappliedChanges: unapplied.size,
    changeLogPosition: seq,
    changeLogLagSeconds: lagMs / 1000,
    draining: Number(departure.draining),
    load: store.node.own?.load ?? 0,
  };
  return { ...numbers, counts: { ...counts, ...own } };
}
