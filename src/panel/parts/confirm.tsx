import { AlertDialog } from '@base-ui/react/alert-dialog';
import { createContext, type ReactNode, useContext, useMemo, useRef, useState } from 'react';
import { useLanguage } from '../language/language.tsx';

/** A question before something that cannot be undone, or that others notice. */
export interface Question {
  readonly title: string;
  /** What else is affected. */
  readonly body: ReactNode;
  /** The button's text: it says what happens. */
  readonly action: string;
}

type Ask = (question: Question) => Promise<boolean>;
const Asking = createContext<Ask | undefined>(undefined);

/** Shows the questions of the components inside. */
export function ConfirmProvider({ children }: { readonly children: ReactNode }) {
  const { t } = useLanguage();
  const [question, setQuestion] = useState<Question>();
  const [isOpen, setOpen] = useState(false);
  const answer = useRef<(isYes: boolean) => void>(undefined);
  const ask = useMemo<Ask>(() => (asked) =>
    new Promise((resolve) => {
      answer.current = resolve;
      setQuestion(asked);
      setOpen(true);
    }), []);
  const close = (isYes: boolean): void => {
    setOpen(false);
    answer.current?.(isYes);
  };
  return (
    <Asking value={ask}>
      {children}
      <AlertDialog.Root open={isOpen} onOpenChange={(open) => !open && close(false)}>
        <AlertDialog.Portal>
          <AlertDialog.Backdrop className='backdrop' />
          <AlertDialog.Popup className='dialog modal'>
            <AlertDialog.Title render={<h2 />}>{question?.title}</AlertDialog.Title>
            <AlertDialog.Description render={<div className='stack-s' />}>{question?.body}</AlertDialog.Description>
            <div className='actions'>
              <button type='button' className='btn' onClick={() => close(false)}>{t.actions.cancel}</button>
              <button type='button' className='btn btn-danger-solid' onClick={() => close(true)}>{question?.action}</button>
            </div>
          </AlertDialog.Popup>
        </AlertDialog.Portal>
      </AlertDialog.Root>
    </Asking>
  );
}

/** Asks a question. Resolves with the answer. */
export function useConfirm(): Ask {
  const ask = useContext(Asking);
  if (ask === undefined) throw new Error('this component is outside of ConfirmProvider');
  return ask;
}
