import { addBytes } from '../rules/byte-count.ts';
import type { ClientEntry } from './clients.ts';
import { type RefusalCause, refusalCauses, type Refusals, type Traffic } from './face.ts';

/** What the visitors of these clients have open and have moved, all together. */
export function trafficOf(clients: Iterable<ClientEntry>): Traffic {
  const sum = { connections: 0, rate: 0, inletBytes: 0, exportBytes: 0 };
  for (const { meter } of clients) {
    sum.connections += meter.connections;
    sum.rate = addBytes(sum.rate, meter.rate);
    sum.inletBytes = addBytes(sum.inletBytes, meter.inlet);
    sum.exportBytes = addBytes(sum.exportBytes, meter.export);
  }
  return sum;
}

/** Refused connections of these clients' visitors by cause, all together. */
export function refusalsOf(clients: Iterable<ClientEntry>): Refusals {
  const sums: Partial<Record<RefusalCause, number>> = {};
  for (const { meter } of clients) {
    for (const cause of refusalCauses) if (meter.refusals[cause]) sums[cause] = (sums[cause] ?? 0) + meter.refusals[cause];
  }
  return sums;
}
