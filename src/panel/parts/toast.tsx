import { Toast } from '@base-ui/react/toast';
import type { ReactNode } from 'react';
import type { CombinedError } from 'urql';
import { failureOf, statusOf } from '../api/failure.ts';
import { useLanguage } from '../language/language.tsx';

const shownMs = 5000;

/** Shows short messages about what succeeded, and announces them to screen readers. */
export function ToastProvider({ children }: { readonly children: ReactNode }) {
  return (
    <Toast.Provider timeout={shownMs}>
      {children}
      <Toast.Portal>
        <Toast.Viewport className='toasts'>
          <Toasts />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function Toasts() {
  const { t } = useLanguage();
  const { toasts } = Toast.useToastManager();
  return toasts.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className={`toast ${toast.type === 'failure' ? 'toast-failure' : ''}`}>
      <Toast.Title render={<p />} />
      <Toast.Close className='btn btn-ghost btn-s' aria-label={t.actions.close}>×</Toast.Close>
    </Toast.Root>
  ));
}

/** Shows a short message. One that says that something failed stays until it is closed. */
export function useToast(): (text: string, isFailure?: boolean) => void {
  const { add } = Toast.useToastManager();
  return (text, isFailure = false) => void add({ title: text, ...(isFailure && { type: 'failure', timeout: 0 }) });
}

/** Says what came of an action: `done`, or why the server refused it. Returns whether it was done. */
export function useReport(): (error: CombinedError | undefined, done: string) => boolean {
  const { t } = useLanguage();
  const toast = useToast();
  return (error, done) => {
    if (error === undefined) toast(done);
    // Without a session, the dialog asks for a login.
    else if (statusOf(error) !== 401) toast(failureOf(error, t).text, true);
    return error === undefined;
  };
}
