import { tcpMode } from './tcp.ts';
import type { TunnelMode } from './tunnel-mode.ts';

/** Like tcp, but the port is on the visitor's machine instead of the server. */
export const secretMode: TunnelMode = { ...tcpMode, name: 'secret' };
