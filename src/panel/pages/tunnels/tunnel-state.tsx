import { type FragmentType, graphql, unmask } from '../../generated/index.ts';
import { useLanguage } from '../../language/language.tsx';
import { State } from '../../parts/state.tsx';

const tunnelState = graphql(`
  fragment TunnelState on Tunnel { enabled runtime { running error } client { id enabled runtime { connected } } }
`);

/** The state of a tunnel in a list: whether visitors reach its target, and why not. */
export function TunnelStateCell({ of }: { readonly of: FragmentType<typeof tunnelState> }) {
  const { t } = useLanguage();
  const { enabled, runtime, client } = unmask(tunnelState, of);
  if (!enabled) return <State tone='off'>{t.states.stopped}</State>;
  if (!client.enabled) return <State tone='off'>{t.states.clientDisabled}</State>;
  if (runtime.error) {
    return (
      <>
        <State tone='danger'>{t.states.broken}</State>
        <span className='sub danger-text'>{runtime.error}</span>
      </>
    );
  }
  if (!client.runtime.connected) return <State tone='away'>{t.states.waiting}</State>;
  return runtime.running ? <State tone='ok'>{t.states.serves}</State> : <State tone='danger'>{t.states.broken}</State>;
}
