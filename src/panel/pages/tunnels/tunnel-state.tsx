import { type FragmentType, graphql, unmask } from '../../generated/index.ts';
import { ServedState } from '../served/served-state.tsx';

const tunnelState = graphql(`
  fragment TunnelState on Tunnel { enabled runtime { running error } client { id enabled effectiveExpiresAt runtime { connected } } }
`);

/** The state of a tunnel in a list. */
export function TunnelStateCell({ of }: { readonly of: FragmentType<typeof tunnelState> }) {
  const tunnel = unmask(tunnelState, of);
  const { running, error } = tunnel.runtime;
  return <ServedState of={tunnel} serves={running && tunnel.client.runtime.connected} error={error} />;
}
