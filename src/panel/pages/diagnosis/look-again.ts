import { useEvents } from '../../api/live.ts';
import { graphql } from '../../generated/index.ts';
import { useThrottled } from '../../parts/throttled.ts';

const clients = graphql(`
  subscription DiagnosisClients { clientChanged { id } }
`);
const tunnels = graphql(`
  subscription DiagnosisTunnels { tunnelChanged { id } }
`);
const hosts = graphql(`
  subscription DiagnosisHosts { hostChanged { id } }
`);

/**
 * Looks again when a client has changed, or a record of the diagnosed kind.
 * @param pause while the diagnosis makes connections, which only the user begins
 */
export function useLookAgain(kind: 'host' | 'tunnel', look: () => void, pause: boolean): void {
  const soon = useThrottled(look);
  useEvents(clients, {}, soon, { pause });
  useEvents(hosts, {}, soon, { pause: pause || kind !== 'host' });
  useEvents(tunnels, {}, soon, { pause: pause || kind !== 'tunnel' });
}
