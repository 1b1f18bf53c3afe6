import type { EngineOptions } from './engine/engine-options.ts';
import type { Settings } from './settings/settings.ts';

/** The options of the engine that are settings of the server. */
export function engineSettings(settings: Settings) {
  return {
    bridgeHost: settings.bridgeHost,
    bridgePort: settings.bridgePort,
    p2pPort: settings.p2pPort,
    tunnelHost: settings.tunnelHost,
    allowPorts: settings.allowPorts,
    allowLocalProxy: settings.allowLocalProxy,
    udpIdleMs: settings.udpIdleSeconds * 1000,
    halfClosedMs: settings.halfClosedSeconds * 1000,
    proxyTiming: { dialMs: settings.dialTimeoutSeconds * 1000 },
    vhostTiming: { headMs: settings.vhostHeadSeconds * 1000, idleMs: settings.vhostIdleSeconds * 1000, responseMs: settings.vhostResponseSeconds * 1000 },
    vhostHead: { bytes: settings.vhostMaxHeadBytes, fields: settings.vhostMaxHeaders },
    trustedProxies: settings.trustedProxies,
    publicUrl: settings.publicUrl,
  } satisfies Partial<EngineOptions>;
}
