import type { proxyProtocols, tunnelModes } from '../../rules/tunnel-mode.ts';
import { enumOf } from '../values/enum.ts';

/** What a tunnel forwards or serves. */
export const TunnelMode = enumOf<typeof tunnelModes[number]>('TunnelMode', 'What a tunnel forwards or serves.', {
  tcp: 'Forwards TCP connections to the targets.',
  udp: 'Forwards UDP packets to the targets.',
  httpProxy: "Acts as an HTTP proxy into the client's network.",
  socks5: "Acts as a SOCKS5 proxy into the client's network.",
  secret: 'Forwards TCP connections of visitor programs that have the password. Opens no port.',
  p2p: 'Connects visitor programs that have the password directly to the agent. Opens no port.',
  file: "Serves files from the agent's machine over HTTP.",
});

/** The PROXY protocol towards the target. */
export const ProxyProtocol = enumOf<typeof proxyProtocols[number]>(
  'ProxyProtocol',
  "The PROXY protocol header that carries the visitor's address to the target.",
  {
    '': 'No header.',
    V1: 'Version 1, text.',
    V2: 'Version 2, binary.',
  },
  { '': 'OFF' },
);
