import type { Client, Host, Tunnel } from '../../store/generated/sqlite/client.ts';

/** The types of records whose state is published. */
export interface LiveRows {
  readonly client: Client;
  readonly tunnel: Tunnel;
  readonly host: Host;
}

/** A kind of record whose state is published. */
export type LiveKind = keyof LiveRows;

/** A changed record. `row` is null if it was deleted or is no longer the subscriber's. */
export interface LiveEvent<Kind extends LiveKind = LiveKind> {
  readonly kind: Kind;
  readonly id: number;
  readonly row: LiveRows[Kind] | null;
}
