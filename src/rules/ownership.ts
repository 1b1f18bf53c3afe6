import type { Caller } from './caller.ts';

/** Whether a caller may see and use a client, with its tunnels and hosts (contract D25). No other code decides this. */
export function mayUseClient(caller: Caller, client: { readonly id: number; readonly userId: number | null }): boolean {
  switch (caller.kind) {
    case 'admin':
      return true;
    case 'user':
      return client.userId === caller.userId;
    case 'client':
      return client.id === caller.clientId;
    case 'anonymous':
      return false;
  }
}
