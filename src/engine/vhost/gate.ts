import { timingSafeEqual } from 'node:crypto';
import { valuesOf } from '../http/head.ts';
import type { RefusalCause, WantedClient } from '../face.ts';
import type { Carrier } from '../tunnels/tunnel-mode.ts';
import type { HostEntry } from './hosts.ts';
import type { Refusal } from './refusal.ts';
import type { Visit } from './vhost-context.ts';

/** What the gate asks the engine. */
export interface GateContext {
  client(id: number): WantedClient | undefined;
  /** Whether a new connection of a visitor may be carried; otherwise why not. */
  admit(clientId: number, address: string): Carrier | RefusalCause;
}

/** What a visitor is told of a cause. */
const told: Readonly<Record<RefusalCause, Refusal>> = {
  offline: 'offline', disabled: 'offline', expired: 'offline', globalBlackList: 'forbidden', whiteList: 'forbidden', blackList: 'forbidden',
  connections: 'tooMany', flow: 'exhausted', capacity: 'tooMany', agentCapacity: 'tooMany', noTarget: 'offline', login: 'unauthorized', malformed: 'malformed',
};

/**
 * Why a request may not go on to its host; undefined = it may. In the order of the diagnosis: client, lists, quotas, agent, then name
 * and password (contract 4.6, 4.9).
 */
export function gateOf({ client, admit }: GateContext, entry: HostEntry, { address, kept, head }: Visit): { readonly refusal: Refusal; readonly reason: string } | undefined {
  if (entry.wanted.targets.length === 0) return { refusal: 'offline', reason: 'the host has no target' };
  const admitted = admit(entry.wanted.clientId, address);
  // What goes over the connection that it has already takes nothing more.
  if (typeof admitted === 'string' && !(kept && (admitted === 'connections' || admitted === 'capacity'))) {
    entry.meter.countRefusal(admitted);
    return { refusal: told[admitted], reason: admitted };
  }
  const wanted = client(entry.wanted.clientId);
  if (wanted && !knows(wanted, valuesOf(head.fields, 'authorization'))) return { refusal: 'unauthorized', reason: 'name or password is wrong or missing' };
  return undefined;
}

/** Both have to be set for them to be asked for (contract 4.6). */
function knows({ basicUser, basicPassword }: WantedClient, [given, ...more]: readonly string[]): boolean {
  if (basicUser === '' || basicPassword === '') return true;
  const [, encoded] = /^basic +([A-Za-z0-9+/=]+)$/i.exec(given ?? '') ?? [];
  if (encoded === undefined || more.length > 0) return false;
  return same(Buffer.from(encoded, 'base64'), Buffer.from(`${basicUser}:${basicPassword}`));
}

function same(given: Buffer, wanted: Buffer): boolean {
  // As long as what is compared with, so that the time says nothing of the length either.
  const padded = Buffer.alloc(wanted.length);
  given.copy(padded);
  return timingSafeEqual(padded, wanted) && given.length === wanted.length;
}
