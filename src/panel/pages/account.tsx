import { useLocation } from 'wouter';
import { useRun } from '../api/use.ts';
import { graphql } from '../generated/index.ts';
import { useLanguage } from '../language/language.tsx';
import { CheckField, TextField } from '../parts/field.tsx';
import { isChecked } from '../parts/form-values.ts';
import { FormFrame, useForm } from '../parts/form.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { useToast } from '../parts/toast.tsx';
import { useViewer } from '../shell/viewer.tsx';

const change = graphql(`
  mutation ChangeOwnPassword($currentPassword: String!, $newPassword: String!, $confirmation: String!, $revokeTokens: Boolean!) {
    changePassword(currentPassword: $currentPassword, newPassword: $newPassword, confirmation: $confirmation, revokeTokens: $revokeTokens) { id }
  }
`);

/** `/account`: users change their own password. */
export default function AccountPage() {
  const { t } = useLanguage();
  const { role, readOnly } = useViewer();
  const run = useRun();
  const toast = useToast();
  const [, navigate] = useLocation();
  const texts = t.people.account;
  const form = useForm({
    initial: { currentPassword: '', newPassword: '', confirmation: '', revokeTokens: '' },
    save: async ({ revokeTokens, ...passwords }) => {
      const { data, error } = await run(change, { ...passwords, revokeTokens: isChecked(revokeTokens) });
      return { data: data?.changePassword.id, error };
    },
    onSaved: () => {
      toast(texts.saved);
      navigate('/');
    },
  });
  if (role !== 'USER' || readOnly) return <PageHead title={texts.title}>{texts.onlyUsers}</PageHead>;
  const { labels, hints } = texts;
  return (
    <>
      <PageHead title={texts.title} />
      <FormFrame form={form} labels={labels} action={texts.save}>
        <section className='card card-body' aria-label={texts.title}>
          <TextField form={form} name='currentPassword' label={labels.currentPassword} type='password' autoComplete='current-password' />
          <TextField form={form} name='newPassword' label={labels.newPassword} type='password' autoComplete='new-password' hint={hints.newPassword} />
          <TextField form={form} name='confirmation' label={labels.confirmation} type='password' autoComplete='new-password' />
          <CheckField form={form} name='revokeTokens' label={labels.revokeTokens} hint={hints.revokeTokens} />
        </section>
      </FormFrame>
    </>
  );
}
