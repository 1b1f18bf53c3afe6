import { useRun } from '../../api/use.ts';
import { graphql } from '../../generated/index.ts';
import { useLanguage } from '../../language/language.tsx';
import { TextField } from '../../parts/field.tsx';
import { FormFrame, useForm } from '../../parts/form.tsx';

const createTunnel = graphql(`
  mutation CreateFirstTunnel($clientId: ID!, $target: String!) { createTunnel(input: { clientId: $clientId, mode: TCP, targets: [$target] }) { id } }
`);
const createHost = graphql(`
  mutation CreateFirstHost($clientId: ID!, $host: String!, $target: String!) {
    createHost(input: { clientId: $clientId, host: $host, targets: [$target] }) { id }
  }
`);

/** Creates the first tunnel or host: a target, and for a host its domain. */
export function FirstEntry({ clientId, onMade }: { readonly clientId: string; readonly onMade: () => void }) {
  const { t } = useLanguage();
  const run = useRun();
  const texts = t.dashboard.welcome;
  const form = useForm({
    initial: { kind: 'tunnel', targets: '', host: '' },
    validate: ({ kind, targets, host }) => ({
      ...(targets.trim() === '' && { targets: t.form.required }),
      ...(kind === 'host' && host.trim() === '' && { host: t.form.required }),
    }),
    save: async ({ kind, targets, host }) => {
      const target = targets.trim();
      if (kind === 'host') {
        const { data, error } = await run(createHost, { clientId, host: host.trim(), target });
        return { data: data?.createHost.id, error };
      }
      const { data, error } = await run(createTunnel, { clientId, target });
      return { data: data?.createTunnel.id, error };
    },
    onSaved: onMade,
  });
  const isHost = form.values.kind === 'host';
  return (
    <>
      <p>{texts.entryText}</p>
      <FormFrame
        form={form}
        labels={{ kind: texts.entryText, targets: texts.target, host: texts.domain }}
        action={texts.entryCreate}
        className='stack plain-form'
      >
        <div className='seg' role='group' aria-label={texts.entryText}>
          {([['tunnel', texts.entryTunnel], ['host', texts.entryHost]] as const).map(([kind, text]) => (
            <button
              key={kind}
              type='button'
              aria-pressed={form.values.kind === kind}
              onClick={() => form.set('kind', kind)}
            >
              {text}
            </button>
          ))}
        </div>
        <div className='grid-2'>
          {isHost && <TextField form={form} name='host' label={texts.domain} hint={texts.domainHint} isMono />}
          <TextField form={form} name='targets' label={texts.target} hint={texts.targetHint} isMono placeholder='127.0.0.1:80' />
        </div>
      </FormFrame>
    </>
  );
}
