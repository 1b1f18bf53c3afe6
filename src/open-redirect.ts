import type http from 'node:http';
import type { Logger } from 'pino';
import { logAcceptErrors } from './engine/limits/accept-errors.ts';
import { addressOf, listen } from './http/listening.ts';
import { createRedirectServer } from './http/redirect.ts';
import { holdToShares } from './http/server.ts';
import { openPorts } from './open-ports.ts';
import type { ShareLimits } from './rules/connection-shares.ts';
import type { Settings } from './settings/settings.ts';
import type { SharedPorts } from './wire/shared-ports.ts';

/** Opens the port that redirects to the HTTPS of the API, if there is one. @param secure serves HTTPS @param shared by other processes @throws as {@link openPorts} */
export async function openRedirect(
  settings: Settings,
  shares: ShareLimits,
  secure: http.Server,
  log: Logger,
  shared: SharedPorts | undefined,
): Promise<http.Server | undefined> {
  const { httpHost, httpRedirectPort, trustedProxies } = settings;
  if (httpRedirectPort === '') return undefined;
  const server = createRedirectServer(() => addressOf(secure).port);
  holdToShares(server, shares, trustedProxies);
  const onError = logAcceptErrors(log, httpRedirectPort);
  return openPorts(
    settings,
    { host: 'httpHost', ports: ['httpRedirectPort'] },
    () => listen(server, { host: httpHost, port: httpRedirectPort, share: shared?.of('redirect') }, onError),
  );
}
