import { useLanguage } from '../../language/language.tsx';
import { hasExpired } from '../clients/client-state.tsx';
import { State } from '../../parts/state.tsx';

/**
 * The state of a tunnel or host: whether visitors reach its target, and why not.
 * @param serves whether they do
 * @param error why not, if more is wrong than that the agent is away
 */
export function ServedState({ of: { enabled, client }, serves, error }: {
  readonly of: {
    readonly enabled: boolean;
    readonly client: {
      readonly enabled: boolean;
      readonly effectiveExpiresAt?: string | null;
      readonly runtime: { readonly connected: boolean };
    };
  };
  readonly serves: boolean;
  readonly error: string | null | undefined;
}) {
  const { t } = useLanguage();
  if (!enabled) return <State tone='off'>{t.states.stopped}</State>;
  if (hasExpired(client.effectiveExpiresAt)) return <State tone='off'>{t.states.clientExpired}</State>;
  if (!client.enabled) return <State tone='off'>{t.states.clientDisabled}</State>;
  if (error) {
    return (
      <>
        <State tone='danger'>{t.states.broken}</State>
        <span className='sub danger-text'>{error}</span>
      </>
    );
  }
  if (serves) return <State tone='ok'>{t.states.serves}</State>;
  return client.runtime.connected ? <State tone='danger'>{t.states.broken}</State> : <State tone='away'>{t.states.waiting}</State>;
}
