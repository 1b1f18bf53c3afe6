import { Toast } from '@base-ui/react/toast';
import type { ReactNode } from 'react';
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
    <Toast.Root key={toast.id} toast={toast} className='toast'>
      <Toast.Title render={<p />} />
      <Toast.Close className='btn btn-ghost btn-s' aria-label={t.actions.close}>×</Toast.Close>
    </Toast.Root>
  ));
}

/** Shows a short message. */
export function useToast(): (text: string) => void {
  const { add } = Toast.useToastManager();
  return (text) => void add({ title: text });
}
