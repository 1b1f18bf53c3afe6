import { type FragmentType, graphql, unmask } from '../../generated/index.ts';
import { useLanguage } from '../../language/language.tsx';
import { Badge, State, type Tone } from '../../parts/state.tsx';

const clientState = graphql(`
  fragment ClientState on Client { enabled effectiveExpiresAt runtime { connected lastOnlineAt } }
`);

/** The state of a client. */
export type ClientStateName = 'online' | 'away' | 'neverSeen' | 'disabled' | 'expired';

const tones: Record<ClientStateName, Tone> = { online: 'ok', away: 'away', neverSeen: 'away', disabled: 'off', expired: 'danger' };

/** Whether a client has expired. @param at the time; nothing = never */
export function hasExpired(at: string | null | undefined): boolean {
  return at !== null && at !== undefined && Date.parse(at) <= Date.now();
}

/** The state of a client, and when its agent was last connected. */
export function useClientState(of: FragmentType<typeof clientState>): { readonly name: ClientStateName; readonly lastOnlineAt: string | null } {
  const { enabled, effectiveExpiresAt, runtime } = unmask(clientState, of);
  const lastOnlineAt = runtime.lastOnlineAt ?? null;
  // An expired client is not enabled either.
  if (hasExpired(effectiveExpiresAt)) return { name: 'expired', lastOnlineAt };
  if (!enabled) return { name: 'disabled', lastOnlineAt };
  if (runtime.connected) return { name: 'online', lastOnlineAt };
  return { name: lastOnlineAt === null ? 'neverSeen' : 'away', lastOnlineAt };
}

/** The state of a client in a list, with when it was last seen. */
export function ClientStateCell({ of }: { readonly of: FragmentType<typeof clientState> }) {
  const { t, f } = useLanguage();
  const { name, lastOnlineAt } = useClientState(of);
  return (
    <>
      <State tone={tones[name]}>{t.states[name]}</State>
      {name === 'away' && lastOnlineAt !== null && <span className='sub nowrap'>{t.clients.lastSeen(f.duration(Date.now() - Date.parse(lastOnlineAt)))}</span>}
    </>
  );
}

/** The state of a client in a headline. */
export function ClientStateBadge({ of }: { readonly of: FragmentType<typeof clientState> }) {
  const { t } = useLanguage();
  const { name } = useClientState(of);
  return <Badge tone={tones[name]}>{t.states[name]}</Badge>;
}
