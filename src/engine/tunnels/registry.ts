import { fileMode } from './file.ts';
import { httpProxyMode } from './http-proxy.ts';
import { p2pMode } from './p2p.ts';
import { secretMode } from './secret.ts';
import { socks5Mode } from './socks5.ts';
import { tcpMode } from './tcp.ts';
import type { TunnelMode } from './tunnel-mode.ts';
import { udpMode } from './udp.ts';

/** The tunnel modes that the engine serves, by their name. */
export const tunnelModes: ReadonlyMap<string, TunnelMode> = new Map(
  [tcpMode, secretMode, p2pMode, udpMode, httpProxyMode, socks5Mode, fileMode].map((mode) => [mode.name, mode]),
);
