/** The transports that a tunnel can listen on. */
export type Transport = 'tcp' | 'udp';

const transports: Readonly<Record<string, Transport>> = {
  tcp: 'tcp',
  httpProxy: 'tcp',
  socks5: 'tcp',
  file: 'tcp',
  udp: 'udp',
};

/** The tunnel modes (contract 4.6). */
export const tunnelModes = ['tcp', 'udp', 'httpProxy', 'socks5', 'secret', 'p2p', 'file'] as const;

/** The transport that a tunnel of this mode listens on; undefined = it has no port (secret, p2p: contract 4.4). */
export function transportOf(mode: string): Transport | undefined {
  return transports[mode];
}

/** The modes whose tunnels are found by their password, which must therefore be unique among them (contract 4.6). */
export const keyedModes: readonly string[] = ['secret', 'p2p'];

/** The modes that can send the visitor's address to the target in a PROXY protocol header. */
export const proxyHeaderModes: readonly string[] = ['tcp', 'secret'];

/** The values of a tunnel's PROXY protocol; '' = off. */
export const proxyProtocols = ['', 'V1', 'V2'] as const;
