import type { Caller } from '../../rules/caller.ts';
import type { AuditEntry } from '../../store/generated/sqlite/client.ts';
import type { Scope } from '../writes/followed-changes.ts';
import type { LiveEvent, LiveKind } from './live-event.ts';

/** A subscription as `Live` sees it: who subscribes, and what is called at which event. An absent method = its events are not wanted. */
export interface Subscriber {
  readonly caller: Caller;
  /** A record changed. The scopes say whose it is now, and whose it was; absent = there is none. */
  readonly state?: (event: { readonly [Kind in LiveKind]: LiveEvent<Kind> }[LiveKind], scope: Scope | undefined, was: Scope | undefined) => void;
  readonly audit?: (entry: AuditEntry) => void;
  readonly user?: (id: number) => void;
  /** Called once a second. */
  readonly tick?: () => void;
  /** Ends the subscription. */
  end(): void;
}
