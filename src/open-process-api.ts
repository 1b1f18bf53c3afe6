import type http from 'node:http';
import net from 'node:net';
import type { Logger } from 'pino';
import { logAcceptErrors } from './engine/limits/accept-errors.ts';
import { openPorts } from './open-ports.ts';
import type { Settings } from './settings/settings.ts';
import { listenOn } from './wire/listen-on.ts';

/**
 * Opens the port at which the API of this one of several processes is reached, if there is one: the common port leads to any of them.
 * @param api gets the connections @throws as {@link openPorts}
 */
export async function openProcessApi(settings: Settings, number: number, api: http.Server, log: Logger): Promise<net.Server | undefined> {
  const { httpHost: host, processHttpPort } = settings;
  if (processHttpPort === '') return undefined;
  const port = processHttpPort === 0 ? 0 : processHttpPort + number - 1;
  const server = net.createServer({ allowHalfOpen: true }, (socket) => api.emit('connection', socket));
  await openPorts(settings, { host: 'httpHost', ports: ['processHttpPort'] }, () => listenOn(server, { host, port }));
  return server.on('error', logAcceptErrors(log, port));
}
