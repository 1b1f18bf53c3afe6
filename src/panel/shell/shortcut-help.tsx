import { Dialog } from '@base-ui/react/dialog';
import { useState } from 'react';
import { useLanguage } from '../language/language.tsx';
import { keep, kept } from '../language/kept.ts';
import { useNavigation } from './navigation.tsx';
import { places } from './shortcuts.ts';

/** The window that lists the keyboard shortcuts. */
export default function ShortcutHelp({ onClose }: { readonly onClose: () => void }) {
  const { t } = useLanguage();
  const { shortcuts } = t.shell;
  const [isEnabled, setEnabled] = useState(kept('shortcuts') !== 'off');
  const pages = Object.values(useNavigation()).flat();
  const goTo = Object.entries(places).flatMap(([key, href]) => pages.filter((page) => page.href === href).map(({ name }) => `${key.toUpperCase()} ${name}`));
  const keys: ReadonlyArray<readonly [string, string]> = [
    ['Ctrl K  /', shortcuts.find],
    ...(goTo.length > 0 ? [['G …', shortcuts.go + t.punctuation.colon + goTo.join(t.punctuation.comma)] as const] : []),
    ['N', shortcuts.create],
    ['J  K', shortcuts.row],
    ['X  Shift X', shortcuts.select],
    ['Enter  E  .', shortcuts.open],
    ['Ctrl Enter', shortcuts.save],
    ['Esc', shortcuts.close],
    ['?', shortcuts.help],
  ];
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className='backdrop' />
        <Dialog.Popup className='dialog modal'>
          <Dialog.Title render={<h2 />}>{shortcuts.title}</Dialog.Title>
          <dl className='kv'>
            {keys.map(([key, text]) => (
              <div key={key} className='contents'>
                <dt className='row'>
                  {key.split('  ').map((one) => <kbd key={one}>{one}</kbd>)}
                </dt>
                <dd>{text}</dd>
              </div>
            ))}
          </dl>
          <label className='check'>
            <input
              type='checkbox'
              checked={isEnabled}
              onChange={({ target }) => {
                setEnabled(target.checked);
                keep('shortcuts', target.checked ? 'on' : 'off');
              }}
            />
            {shortcuts.enabled}
          </label>
          <div className='actions'>
            <Dialog.Close className='btn'>{t.actions.close}</Dialog.Close>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
