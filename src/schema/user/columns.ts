import type { User } from '../../store/generated/sqlite/client.ts';
import type { ColumnUses } from '../values/columns.ts';

/** How each column of a user is used. */
export const columnsOfUser = {
  id: { audit: 'value', shown: 'id', input: null },
  username: { audit: 'value', shown: 'username', input: 'username' },
  passwordHash: { audit: 'secret', shown: null, input: 'password' },
  enabled: { audit: 'value', shown: 'enabled', input: null },
  remark: { audit: 'value', shown: 'remark', input: 'remark' },
  maxClients: { audit: 'value', shown: 'maxClients', input: 'maxClients' },
  maxTunnels: { audit: 'value', shown: 'maxTunnels', input: 'maxTunnels' },
  expiresAt: { audit: 'value', shown: 'expiresAt', input: 'expiresAt' },
  expired: { audit: 'value', shown: null, input: null },
  createdAt: { audit: 'none', shown: 'createdAt', input: null },
  lastLoginAt: { audit: 'none', shown: 'lastLoginAt', input: null },
  clientCount: { audit: 'none', shown: 'clientCount', input: null },
  tunnelCount: { audit: 'none', shown: 'tunnelCount', input: null },
  hostCount: { audit: 'none', shown: null, input: null },
} as const satisfies ColumnUses<User>;
