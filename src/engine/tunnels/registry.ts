import type { TunnelMode } from './tunnel-mode.ts';
import { secretMode } from './secret.ts';
import { tcpMode } from './tcp.ts';
import { udpMode } from './udp.ts';

/** The tunnel modes that the engine serves, by their name. */
export const tunnelModes: ReadonlyMap<string, TunnelMode> = new Map([tcpMode, secretMode, udpMode].map((mode) => [mode.name, mode]));
