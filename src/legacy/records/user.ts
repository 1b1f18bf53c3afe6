import type { UserFieldsFragment, UpdateUserInput } from '../generated/graphql.ts';
import { answered } from '../answered.ts';
import type { ReadsBack } from '../settable.ts';
import type { Shaped } from '../shapes.ts';
import { timeText } from './client.ts';

/** Builds a user record (contract 1.2). The password keeps its key and is always "" (D16). */
export function userRecord(user: ReadsBack<UserFieldsFragment, UpdateUserInput, 'password'>): Shaped<'User'> {
  return {
    Id: Number(user.id),
    UserName: user.username,
    Password: '',
    Status: user.enabled,
    Remark: answered(user.remark),
    ClientCount: user.clientCount,
    TunnelCount: user.tunnelCount,
    MaxClientNum: user.maxClients ?? 0,
    MaxTunnelNum: user.maxTunnels ?? 0,
    ExpireTime: timeText(user.expiresAt),
    CreateTime: timeText(user.createdAt),
  };
}
