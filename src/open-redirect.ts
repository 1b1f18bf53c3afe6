import type http from 'node:http';
import type { Logger } from 'pino';
import { logAcceptErrors } from './engine/limits/accept-errors.ts';
import { addressOf, listen } from './http/listening.ts';
import { createRedirectServer } from './http/redirect.ts';
import { holdToShares } from './http/server.ts';
import { openPorts } from './open-ports.ts';
import type { ShareLimits } from './rules/connection-shares.ts';
import type { Settings } from './settings/settings.ts';

/** Opens the port that redirects to the HTTPS of the API, if there is one. @param secure serves HTTPS @throws as {@link openPorts} */
export async function openRedirect(settings: Settings, shares: ShareLimits, secure: http.Server, log: Logger): Promise<http.Server | undefined> {
  const { httpHost, httpRedirectPort, trustedProxies } = settings;
  if (httpRedirectPort === '') return undefined;
  const server = createRedirectServer(() => addressOf(secure).port);
  holdToShares(server, shares, trustedProxies);
  const onError = logAcceptErrors(log, httpRedirectPort);
  return openPorts(settings, { host: 'httpHost', ports: ['httpRedirectPort'] }, () => listen(server, httpHost, httpRedirectPort, onError));
}
