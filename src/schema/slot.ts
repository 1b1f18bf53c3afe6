import type { SlotAnswer } from '../store/totals.ts';
import { AditError } from './errors.ts';

/** @throws {AditError} when client or owner has all the tunnels and hosts that are allowed (contract 4.9), or there is no such client */
export function checkSlot(answer: SlotAnswer): void {
  switch (answer) {
    case 'taken': return;
    case 'clientFull': throw new AditError('CLIENT_TUNNEL_QUOTA');
    case 'ownerFull': throw new AditError('USER_TUNNEL_QUOTA');
    case 'noClient': throw new AditError('NOT_FOUND', { resource: 'client' });
  }
}
