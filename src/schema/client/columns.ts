import type { Client } from '../../store/generated/sqlite/client.ts';
import type { ColumnUses } from '../values/columns.ts';

/** How each column of a client is used. */
export const columnsOfClient = {
  id: { audit: 'value', shown: 'id', input: null, ownerSets: false },
  vkey: { audit: 'secret', shown: 'verifyKey', input: 'verifyKey', ownerSets: false },
  remark: { audit: 'value', shown: 'remark', input: 'remark', ownerSets: true },
  enabled: { audit: 'value', shown: 'enabled', input: null, ownerSets: false },
  disabledByAdmin: { audit: 'value', shown: null, input: null, ownerSets: false },
  basicUser: { audit: 'value', shown: 'basicUser', input: 'basicUser', ownerSets: true },
  basicPassword: { audit: 'secret', shown: 'hasBasicPassword', input: 'basicPassword', ownerSets: true },
  compress: { audit: 'value', shown: 'compress', input: 'compress', ownerSets: true },
  crypt: { audit: 'value', shown: 'encrypt', input: 'encrypt', ownerSets: true },
  configAllowed: { audit: 'value', shown: 'configAllowed', input: 'configAllowed', ownerSets: false },
  rateLimit: { audit: 'value', shown: 'rateLimit', input: 'rateLimit', ownerSets: false },
  flowLimit: { audit: 'value', shown: 'flowLimit', input: 'flowLimit', ownerSets: false },
  maxConnections: { audit: 'value', shown: 'maxConnections', input: 'maxConnections', ownerSets: false },
  maxTunnels: { audit: 'value', shown: 'maxTunnels', input: 'maxTunnels', ownerSets: false },
  webUsername: { audit: 'value', shown: 'webUsername', input: 'webUsername', ownerSets: false },
  webPasswordHash: { audit: 'secret', shown: 'hasWebPassword', input: 'webPassword', ownerSets: false },
  blackIpList: { audit: 'value', shown: 'blocklist', input: 'blocklist', ownerSets: true },
  ipWhite: { audit: 'value', shown: 'allowlistEnabled', input: 'allowlistEnabled', ownerSets: true },
  ipWhitePassword: { audit: 'secret', shown: 'hasAllowlistPassword', input: 'allowlistPassword', ownerSets: true },
  ipWhiteList: { audit: 'value', shown: 'allowlist', input: 'allowlist', ownerSets: true },
  expiresAt: { audit: 'value', shown: 'expiresAt', input: 'expiresAt', ownerSets: false },
  expired: { audit: 'value', shown: null, input: null, ownerSets: false },
  createdAt: { audit: 'none', shown: 'createdAt', input: null, ownerSets: false },
  lastOnlineAt: { audit: 'none', shown: 'runtime', input: null, ownerSets: false },
  lastAddress: { audit: 'none', shown: 'runtime', input: null, ownerSets: false },
  localAddress: { audit: 'none', shown: 'runtime', input: null, ownerSets: false },
  agentVersion: { audit: 'none', shown: 'runtime', input: null, ownerSets: false },
  node: { audit: 'none', shown: 'runtime', input: null, ownerSets: false },
  inletBytes: { audit: 'none', shown: 'runtime', input: null, ownerSets: false },
  exportBytes: { audit: 'none', shown: 'runtime', input: null, ownerSets: false },
  connected: { audit: 'none', shown: 'runtime', input: null, ownerSets: false },
  rate: { audit: 'none', shown: 'runtime', input: null, ownerSets: false },
  connections: { audit: 'none', shown: 'runtime', input: null, ownerSets: false },
  tunnelCount: { audit: 'none', shown: null, input: null, ownerSets: false },
  hostCount: { audit: 'none', shown: null, input: null, ownerSets: false },
  userId: { audit: 'value', shown: 'owner', input: 'ownerId', ownerSets: false },
} as const satisfies ColumnUses<Client, {
  /** Users and the web login may set it for their own clients (contract 2.2); other fields that they send are ignored. */
  readonly ownerSets: boolean;
}>;
