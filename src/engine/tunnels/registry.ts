import type { TunnelMode } from './tunnel-mode.ts';
import { secretMode } from './secret.ts';
import { tcpMode } from './tcp.ts';

/** The tunnel modes that the engine serves, by their name. */
export const tunnelModes: ReadonlyMap<string, TunnelMode> = new Map([tcpMode, secretMode].map((mode) => [mode.name, mode]));
