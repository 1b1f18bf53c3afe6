import { parseBasic } from '../../../rules/login.ts';
import { valuesOf } from '../../http/field.ts';
import type { RequestHead } from '../../http/head.ts';
import type { Environment } from '../../environment.ts';
import type { RefusalCause } from '../../face.ts';
import type { ClientLogins } from '../../limits/client-logins.ts';
import type { HostEntry } from '../host-entry.ts';
import type { Refusal } from '../../../rules/visitor-refusals.ts';
import type { GateRefusal, Visit } from '../vhost-context.ts';

/** The refusal for a cause. */
const refusalByCause: Readonly<Record<RefusalCause, Refusal>> = {
  offline: 'offline',
  disabled: 'offline',
  expired: 'offline',
  globalBlackList: 'forbidden',
  whiteList: 'forbidden',
  blackList: 'forbidden',
  connections: 'tooMany',
  flow: 'exhausted',
  capacity: 'tooMany',
  agentCapacity: 'tooMany',
  noTarget: 'offline',
  localProxy: 'offline',
  login: 'unauthorized',
  malformed: 'malformed',
};

/**
 * Why a request may not go on to its host; undefined = it may. In the order of the diagnosis: client, lists, quotas, agent, then name
 * and password (contract 4.6, 4.9).
 */
export function gateOf(environment: Environment, entry: HostEntry, { address, kept, head }: Visit): GateRefusal | undefined {
  const { clientId } = entry.wanted;
  const refuse = (cause: RefusalCause, refusal: Refusal, reason: string): GateRefusal => {
    entry.meter.countRefusal(cause);
    environment.refused(clientId, cause);
    return { refusal, reason };
  };
  if (entry.targets.next === undefined) {
    return entry.wanted.targets.length === 0
      ? refuse('noTarget', 'offline', 'the host has no target')
      : refuse('noTarget', 'unhealthy', 'all targets fail their health checks');
  }
  const admitted = environment.admit(entry.wanted, address);
  // A request on a connection that is already open needs no new connection.
  if (typeof admitted === 'string' && !(kept && (admitted === 'connections' || admitted === 'capacity'))) {
    return refuse(
      admitted,
      admitted === 'whiteList' && environment.clients.get(clientId)?.acceptsPassword === true ? 'notListed' : refusalByCause[admitted],
      admitted,
    );
  }
  if (knows(environment.logins, clientId, head, address)) return undefined;
  return refuse('login', 'unauthorized', 'name or password is wrong or missing');
}

/** Whether the request has the client's name and password, if both are set (contract 4.6). An address that guesses is refused for a while. */
function knows(logins: ClientLogins, clientId: number, head: RequestHead, address: string): boolean {
  if (!logins.of(clientId)) return true;
  const [shown, ...more] = valuesOf(head.fields, 'authorization');
  const given = shown === undefined || more.length > 0 ? undefined : parseBasic(shown);
  return given !== undefined && logins.accept(clientId, given, address);
}
