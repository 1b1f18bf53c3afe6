import { addBytes } from './byte-count.ts';

/** Open connections, bytes of the last whole second, and totals: from visitors (inlet) and to them (export). */
interface Traffic {
  readonly connections: number;
  /** In both directions. */
  readonly rate: number;
  readonly inletRate: number;
  readonly exportRate: number;
  readonly inletBytes: number;
  readonly exportBytes: number;
}

/** The traffic of no record. */
export const NO_TRAFFIC: Traffic = { connections: 0, rate: 0, inletRate: 0, exportRate: 0, inletBytes: 0, exportBytes: 0 };

/** The traffic of two records together. */
export function trafficSum(one: Traffic, other: Traffic): Traffic {
  return {
    connections: one.connections + other.connections,
    rate: addBytes(one.rate, other.rate),
    inletRate: addBytes(one.inletRate, other.inletRate),
    exportRate: addBytes(one.exportRate, other.exportRate),
    inletBytes: addBytes(one.inletBytes, other.inletBytes),
    exportBytes: addBytes(one.exportBytes, other.exportBytes),
  };
}
