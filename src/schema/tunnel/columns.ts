import type { Tunnel } from '../../store/generated/sqlite/client.ts';
import type { ColumnUses } from '../values/columns.ts';

/** How each column of a tunnel is used. */
export const columnsOfTunnel = {
  id: { audit: 'value', shown: 'id', input: null, copied: false, declared: false },
  clientId: { audit: 'value', shown: 'client', input: 'clientId', copied: true, declared: false },
  mode: { audit: 'value', shown: 'mode', input: 'mode', copied: true, declared: true },
  remark: { audit: 'value', shown: 'remark', input: 'remark', copied: true, declared: true },
  port: { audit: 'value', shown: 'port', input: 'port', copied: false, declared: true },
  serverIp: { audit: 'value', shown: 'serverIp', input: 'serverIp', copied: true, declared: true },
  target: { audit: 'value', shown: 'targets', input: 'targets', copied: true, declared: true },
  localProxy: { audit: 'value', shown: 'localProxy', input: 'localProxy', copied: true, declared: false },
  password: { audit: 'secret', shown: 'password', input: 'password', copied: true, declared: true },
  localPath: { audit: 'value', shown: 'localPath', input: 'localPath', copied: true, declared: true },
  stripPrefix: { audit: 'value', shown: 'stripPrefix', input: 'stripPrefix', copied: true, declared: true },
  proxyProtocol: { audit: 'value', shown: 'proxyProtocol', input: 'proxyProtocol', copied: true, declared: true },
  accounts: { audit: 'secret', shown: 'accountNames', input: 'accounts', copied: true, declared: true },
  enabled: { audit: 'value', shown: 'enabled', input: null, copied: false, declared: false },
  createdAt: { audit: 'none', shown: 'createdAt', input: null, copied: false, declared: false },
  inletBytes: { audit: 'none', shown: 'runtime', input: null, copied: false, declared: false },
  exportBytes: { audit: 'none', shown: 'runtime', input: null, copied: false, declared: false },
  noStore: { audit: 'value', shown: 'noStore', input: null, copied: false, declared: false },
  running: { audit: 'none', shown: null, input: null, copied: false, declared: false },
  rate: { audit: 'none', shown: 'runtime', input: null, copied: false, declared: false },
  connections: { audit: 'none', shown: 'runtime', input: null, copied: false, declared: false },
  ownerId: { audit: 'none', shown: null, input: null, copied: false, declared: false },
  clientKey: { audit: 'none', shown: null, input: null, copied: false, declared: false },
  clientOnline: { audit: 'none', shown: null, input: null, copied: false, declared: false },
} as const satisfies ColumnUses<Tunnel, {
  /** Copied to a copy of the tunnel. */
  readonly copied: boolean;
  /** An agent can declare it in its configuration file (wire/declared.ts). */
  readonly declared: boolean;
}>;
