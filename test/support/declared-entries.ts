import { declaredHost, type DeclaredHost, declaredTunnel, type DeclaredTunnel } from '../../src/wire/declaration.ts';

/*
 * Entries of agents' configuration files. The keys here are those of version 0.1: keys that came later have a default, so no suite changes when a key is
 * added.
 */

const plainTunnel = declaredTunnel.parse({
  mode: 'tcp',
  port: 0,
  serverIp: '',
  targets: ['127.0.0.1:1'],
  password: '',
  localPath: '',
  stripPrefix: '',
  proxyProtocol: '',
  remark: '',
});
const plainHost = declaredHost.parse({
  host: 'a.example',
  platformDomainId: '',
  platformPrefix: '',
  location: '/',
  scheme: 'all',
  targets: ['127.0.0.1:1'],
  headers: [],
  hostChange: '',
  certificate: '',
  privateKey: '',
  autoHttps: false,
  acme: false,
  remark: '',
});

/** A tunnel as an agent declares it: tcp, on any port, to port 1 of the agent's machine by default. */
export function declaredTunnelOf(tunnel: Partial<DeclaredTunnel> = {}): DeclaredTunnel {
  return { ...plainTunnel, ...tunnel };
}

/** A host as an agent declares it: `a.example`, every path, both schemes, to port 1 of the agent's machine by default. */
export function declaredHostOf(host: Partial<DeclaredHost> = {}): DeclaredHost {
  return { ...plainHost, ...host };
}
