import { type ReactNode, useEffect, useEffectEvent, useRef, useState } from 'react';
import { useLanguage } from '../language/language.tsx';
import { keep, kept } from '../language/kept.ts';
import { applyDensity } from '../shell/theme.ts';
import { Icon } from './icon.tsx';
import { type ListState, pageRows } from './list-state.ts';
import type { Column } from './table.tsx';

/** The lists whose columns can be chosen. */
export type ListName = 'clients' | 'tunnels' | 'hosts' | 'users';

/** Typing pauses for this many ms before the server searches. */
const pauseMs = 200;

/** The search field of a list. */
export function Search({ list, label, placeholder }: { readonly list: ListState; readonly label: string; readonly placeholder: string }) {
  const [text, setText] = useState(list.q);
  const sent = useRef(list.q);
  useEffect(() => {
    // The address changed by other means, such as Back.
    if (list.q !== sent.current) {
      sent.current = list.q;
      setText(list.q);
    }
  }, [list.q]);
  useEffect(() => {
    if (text === sent.current) return undefined;
    const timer = setTimeout(() => {
      sent.current = text;
      list.set({ q: text });
    }, pauseMs);
    return () => clearTimeout(timer);
  }, [text, list]);
  return (
    <div className='search'>
      <Icon name='search' />
      <input className='input' type='search' aria-label={label} placeholder={placeholder} value={text} onChange={(event) => setText(event.target.value)} />
    </div>
  );
}

/** Shows one part of a list. @param options as value, text and count; a blank value = all */
export function Segments({ list, name, label, options }: {
  readonly list: ListState;
  readonly name: string;
  readonly label: string;
  readonly options: ReadonlyArray<readonly [value: string, text: string, count?: number | undefined]>;
}) {
  const { f } = useLanguage();
  return (
    <div className='seg' role='group' aria-label={label}>
      {options.map(([value, text, count]) => (
        <button
          key={value}
          type='button'
          aria-pressed={list.get(name) === value}
          onClick={() => list.set({ [name]: value })}
        >
          {text} {count !== undefined && <span className='count'>{f.number(count)}</span>}
        </button>
      ))}
    </div>
  );
}

/** A button that opens a small window with fields. */
export function Popover({ icon, label, children }: { readonly icon: 'filter' | 'columns'; readonly label: string; readonly children: ReactNode }) {
  const details = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event): void => {
      const { current } = details;
      if (current === null || !current.open) return;
      if (event instanceof KeyboardEvent) {
        if (event.key !== 'Escape') return;
        current.querySelector('summary')?.focus();
      } else if (event.target instanceof Node && current.contains(event.target)) return;
      current.open = false;
    };
    document.addEventListener('pointerdown', close);
    document.addEventListener('keydown', close);
    return () => {
      document.removeEventListener('pointerdown', close);
      document.removeEventListener('keydown', close);
    };
  }, []);
  return (
    <details className='popover' ref={details}>
      <summary className='btn'>
        <Icon name={icon} />
        {label}
      </summary>
      <div className='pop'>{children}</div>
    </details>
  );
}

/** The columns of a list that are shown, and the window to choose them. The browser keeps the choice. @param hidden the columns hidden at first */
export function useColumns<Row>(
  list: ListName,
  columns: ReadonlyArray<Column<Row>>,
  hidden: readonly string[] = [],
): readonly [shown: ReadonlyArray<Column<Row>>, chooser: ReactNode] {
  const { t } = useLanguage();
  const [left, setLeft] = useState<readonly string[]>(() => kept(`columns.${list}`)?.split(',') ?? hidden);
  const chooser = (
    <Popover icon='columns' label={t.list.columns}>
      {columns.slice(1).filter(({ isState }) => isState !== true).map(({ key, head }) => (
        <label key={key} className='check'>
          <input
            type='checkbox'
            checked={!left.includes(key)}
            onChange={({ target }) => {
              const next = target.checked ? left.filter((other) => other !== key) : [...left, key];
              setLeft(next);
              keep(`columns.${list}`, next.join(','));
            }}
          />
          {head}
        </label>
      ))}
      <Density />
    </Popover>
  );
  const shown = columns.filter(({ key }) => !left.includes(key));
  // A user who selects a column sees it, unless the table is very narrow.
  return [shown.map((column) => hidden.includes(column.key) ? { ...column, leaves: 2 } : column), chooser];
}

/** Chooses how high the rows are. */
function Density() {
  const { t } = useLanguage();
  const [isCompact, setCompact] = useState(() => kept('density') === 'compact');
  return (
    <label className='check apart'>
      <input
        type='checkbox'
        checked={isCompact}
        onChange={({ target }) => {
          setCompact(target.checked);
          keep('density', target.checked ? 'compact' : 'comfortable');
          applyDensity();
        }}
      />
      {t.list.compact}
    </label>
  );
}

/** The pages of a list. @param waiting new rows that `onRelease` shows; absent = none ever wait */
export function Pager({ list, total, waiting = 0, onRelease }: {
  readonly list: ListState;
  readonly total: number;
  readonly waiting?: number;
  readonly onRelease?: () => void;
}) {
  const { t, f } = useLanguage();
  const last = Math.max(1, Math.ceil(total / pageRows));
  const to = Math.min(list.offset + pageRows, total);
  const isBeyond = total > 0 && list.page > last;
  const leave = useEffectEvent(() => list.set({ page: String(last) }, true));
  // The rows of this page were deleted, or the address is an old one.
  useEffect(() => {
    if (isBeyond) leave();
  }, [isBeyond]);
  return (
    <nav className='pager' aria-label={t.list.pages}>
      <span>
        <span role='status'>{t.list.range(Math.min(list.offset + 1, total), to, total)}</span> · {t.list.zone(f.zone)}
      </span>
      {waiting > 0 && <button type='button' className='btn btn-s' onClick={onRelease}>{t.list.waiting(waiting)}</button>}
      {last > 1 && (
        <span className='row'>
          <button type='button' className='btn btn-s' disabled={list.page <= 1} onClick={() => list.set({ page: String(list.page - 1) })}>
            {t.list.previous}
          </button>
          <button type='button' className='btn btn-s' disabled={list.page >= last} onClick={() => list.set({ page: String(list.page + 1) })}>
            {t.list.next}
          </button>
        </span>
      )}
    </nav>
  );
}
