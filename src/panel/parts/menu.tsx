import { Menu as Base } from '@base-ui/react/menu';
import type { ReactNode } from 'react';
import { useLanguage } from '../language/language.tsx';
import { Icon } from './icon.tsx';

/** An entry of a menu. */
export interface MenuEntry {
  readonly label: string;
  readonly onChoose: () => void;
  readonly isDanger?: boolean;
}

/** Menus are inside the page's main part, so that assistive programs find them there. */
const main = {
  get current(): HTMLElement | null {
    return document.querySelector('main');
  },
};

/** A button that opens a menu. @param trigger the button's content @param label its name, if the content is an icon */
export function Menu({ trigger, label, className = 'btn', entries }: {
  readonly trigger: ReactNode;
  readonly label: string;
  readonly className?: string;
  readonly entries: readonly MenuEntry[];
}) {
  return (
    <Base.Root modal={false}>
      <Base.Trigger className={className} aria-label={label}>{trigger}</Base.Trigger>
      <Base.Portal container={main}>
        <Base.Positioner className='positioner' align='end' sideOffset={4}>
          <Base.Popup className='pop menu'>
            {entries.map(({ label: text, onChoose, isDanger = false }) => (
              <Base.Item key={text} className={`item ${isDanger ? 'danger-text' : ''}`} onClick={onChoose}>{text}</Base.Item>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

/** The menu at the end of a row. @param name of the row's record */
export function RowMenu({ name, entries }: { readonly name: string; readonly entries: readonly MenuEntry[] }) {
  const { t } = useLanguage();
  return <Menu trigger={<Icon name='more' />} label={t.actions.more(name)} className='btn btn-ghost btn-s btn-icon' entries={entries} />;
}
