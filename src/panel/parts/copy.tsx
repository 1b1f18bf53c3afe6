import { useId, useState } from 'react';
import { useLanguage } from '../language/language.tsx';
import { Icon } from './icon.tsx';
import { useToast } from './toast.tsx';

/** A button that copies a text. */
export function CopyButton({ text }: { readonly text: string }) {
  const { t } = useLanguage();
  const toast = useToast();
  return (
    <button
      type='button'
      className='btn btn-ghost btn-s'
      onClick={() => void copy(text).then(() => toast(t.actions.copied))}
    >
      <Icon name='copy' />
      {t.actions.copy}
    </button>
  );
}

/**
 * A command or file to copy. Its secret is shown as dots until it is revealed; Copy always takes the real one.
 * @param secret a part of the text @param isPassword whether the secret is a password, not a key
 */
export function Command({ title, text, secret, isPassword = false }: {
  readonly title: string;
  readonly text: string;
  readonly secret?: string;
  readonly isPassword?: boolean;
}) {
  const { t } = useLanguage();
  const [isShown, setShown] = useState(false);
  const id = useId();
  const visible = secret === undefined || isShown ? text : text.replaceAll(secret, '•'.repeat(16));
  return (
    <div className='cmd cmd-wrap'>
      <div className='cmd-head'>
        <span id={id}>{title}</span>
        <span className='row'>
          {secret !== undefined && (
            <button type='button' className='btn btn-ghost btn-s' aria-pressed={isShown} onClick={() => setShown(!isShown)}>
              <Icon name='eye' />
              {isPassword ? (isShown ? t.actions.hidePassword : t.actions.showPassword) : isShown ? t.actions.hideKey : t.actions.showKey}
            </button>
          )}
          <CopyButton text={text} />
        </span>
      </div>
      <pre tabIndex={0} role='region' aria-labelledby={id}>
        <code>{visible.split(/(\s+)/).map((part, at) => /^\S/.test(part) ? <span key={at} className='word'>{part}</span> : part)}</code>
      </pre>
    </div>
  );
}

/** Copies a text. Without HTTPS, browsers have no clipboard API, and some refuse it: the text is then copied by a selection. */
async function copy(text: string): Promise<void> {
  if (navigator.clipboard !== undefined && await navigator.clipboard.writeText(text).then(() => true, () => false)) return;
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}
