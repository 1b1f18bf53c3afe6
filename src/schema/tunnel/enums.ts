import { builder } from '../builder.ts';

/** What a tunnel does with what arrives. */
export const TunnelMode = builder.enumType('TunnelMode', {
  description: 'What a tunnel does with what arrives.',
  values: {
    TCP: { value: 'tcp', description: 'Forwards TCP connections to the targets.' },
    UDP: { value: 'udp', description: 'Forwards UDP packets to the targets.' },
    HTTP_PROXY: { value: 'httpProxy', description: "Is an HTTP proxy into the client's network." },
    SOCKS5: { value: 'socks5', description: "Is a SOCKS5 proxy into the client's network." },
    SECRET: { value: 'secret', description: 'Serves visitors that prove the password; opens no port.' },
    P2P: { value: 'p2p', description: 'Joins visitors that prove the password to the agent directly; opens no port.' },
    FILE: { value: 'file', description: "Serves files of the agent's machine over HTTP." },
  } as const,
});

/** The PROXY protocol towards the target. */
export const ProxyProtocol = builder.enumType('ProxyProtocol', {
  description: "The PROXY protocol header that tells the target the visitor's address (tcp tunnels).",
  values: {
    OFF: { value: '', description: 'None is sent.' },
    V1: { value: 'V1', description: 'Version 1, text.' },
    V2: { value: 'V2', description: 'Version 2, binary.' },
  } as const,
});

/** What tunnels can be sorted by. */
export const TunnelOrder = builder.enumType('TunnelOrder', {
  description: 'What tunnels can be sorted by.',
  values: {
    ID: { description: 'The id.' },
    CLIENT_ID: { description: "The client's id." },
    REMARK: { description: 'The note.' },
    PORT: { description: 'The port.' },
    MODE: { description: 'The mode.' },
    TARGET: { description: 'The targets.' },
    VERIFY_KEY: { description: "The client's verification key." },
    PASSWORD: { description: 'The key that visitors prove.' },
    ENABLED: { description: 'Stopped ones first.' },
    RUNNING: { description: 'Those whose listener is closed first.' },
    CONNECTED: { description: "Those without the client's agent first." },
  },
});
