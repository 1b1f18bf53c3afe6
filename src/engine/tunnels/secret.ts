import { tcpMode } from './tcp.ts';
import type { TunnelMode } from './tunnel-mode.ts';

/** The port is on the visitor's machine: its connections go to the agent's target as if they had been made to a port of the server. */
export const secretMode: TunnelMode = { ...tcpMode, name: 'secret' };
