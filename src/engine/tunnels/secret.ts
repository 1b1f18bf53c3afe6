import { tcpMode } from './tcp.ts';
import type { TunnelMode } from './tunnel-mode.ts';

/** The port is the visitor's: what its program brings goes to the agent's target as if it had come to a port of the server. */
export const secretMode: TunnelMode = { ...tcpMode, name: 'secret' };
