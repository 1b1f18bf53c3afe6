import type { UserFieldsFragment } from '../generated/graphql.ts';
import type { Shaped } from '../shapes.ts';
import { timeText } from './client.ts';

/** Builds a user record (contract 1.2). The password keeps its key and is always "" (D16). */
export function userRecord(user: UserFieldsFragment): Shaped<'User'> {
  return {
    Id: Number(user.id),
    UserName: user.username,
    Password: '',
    Status: user.enabled,
    Remark: user.remark,
    ClientCount: user.clientCount,
    TunnelCount: user.tunnelCount,
    MaxClientNum: user.maxClients ?? 0,
    MaxTunnelNum: user.maxTunnels ?? 0,
    ExpireTime: timeText(user.expiresAt),
    CreateTime: timeText(user.createdAt),
  };
}
