/** The transports a tunnel can listen on. */
export type Transport = 'tcp' | 'udp';

const transports: Readonly<Record<string, Transport>> = {
  tcp: 'tcp', httpProxy: 'tcp', socks5: 'tcp', file: 'tcp', udp: 'udp',
};

/** The tunnel modes (contract 4.6). */
export const tunnelModes = ['tcp', 'udp', 'httpProxy', 'socks5', 'secret', 'p2p', 'file'] as const;

/** What a tunnel of this mode listens on; undefined = on no port (secret, p2p: contract 4.4). */
export function transportOf(mode: string): Transport | undefined {
  return transports[mode];
}

/** The modes whose tunnels are found by their password, which therefore belongs to one of them only (contract 4.6). */
export const keyedModes: readonly string[] = ['secret', 'p2p'];

/** The modes whose targets can be told the visitor's address by a PROXY protocol header: elsewhere nobody would read it. */
export const proxyHeaderModes: readonly string[] = ['tcp', 'secret'];

/** The values of a tunnel's PROXY protocol; '' = off. */
export const proxyProtocols = ['', 'V1', 'V2'] as const;
