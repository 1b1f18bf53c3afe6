import type { proxyProtocols, tunnelModes } from '../../rules/tunnel-mode.ts';
import { enumOf } from '../values/enum.ts';

/** What a tunnel does with what arrives. */
export const TunnelMode = enumOf<typeof tunnelModes[number]>('TunnelMode', 'What a tunnel does with what arrives.', {
  tcp: 'Forwards TCP connections to the targets.',
  udp: 'Forwards UDP packets to the targets.',
  httpProxy: "Is an HTTP proxy into the client's network.",
  socks5: "Is a SOCKS5 proxy into the client's network.",
  secret: 'Serves visitors that prove the password; opens no port.',
  p2p: 'Joins visitors that prove the password to the agent directly; opens no port.',
  file: "Serves files of the agent's machine over HTTP.",
});

/** The PROXY protocol towards the target. */
export const ProxyProtocol = enumOf<typeof proxyProtocols[number]>('ProxyProtocol', "The PROXY protocol header that tells the target the visitor's address (tcp tunnels).", {
  '': 'None is sent.',
  V1: 'Version 1, text.',
  V2: 'Version 2, binary.',
}, { '': 'OFF' });
