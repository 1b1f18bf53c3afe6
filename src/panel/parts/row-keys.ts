import { type RefObject, useEffect, useEffectEvent, useRef } from 'react';
import { isSingleKey } from '../shell/shortcuts.ts';
import type { Selection } from './table.tsx';

const rowsOf = (body: HTMLElement | null): HTMLElement[] => [...body?.querySelectorAll<HTMLElement>('tr[data-row]') ?? []];

/**
 * The keys of a list: J and K, and the arrows while a row has the focus, move it from row to row; X selects, Shift+X selects up to here; Enter opens, E edits, a full stop opens the row's menu.
 * When the row with the focus disappears, the one that takes its place gets it.
 * @param ids of the rows that are shown
 */
export function useRowKeys(body: RefObject<HTMLElement | null>, ids: readonly string[], { selection, onEdit }: {
  readonly selection?: Selection | undefined;
  readonly onEdit?: ((id: string) => void) | undefined;
}): void {
  /** The row that the focus was in last. */
  const last = useRef<{ readonly id: string; readonly at: number }>(undefined);
  /** Where Shift+X starts. */
  const anchor = useRef<string>(undefined);
  const press = useEffectEvent((event: KeyboardEvent) => {
    const rows = rowsOf(body.current);
    const focused = document.activeElement?.closest<HTMLElement>('tr[data-row]') ?? null;
    const at = focused === null ? -1 : rows.indexOf(focused);
    const row = rows[at];
    const id = row?.dataset['row'];
    const isOnRow = row !== undefined && document.activeElement === row;
    const step = { j: 1, k: -1, ...(isOnRow && { arrowdown: 1, arrowup: -1 }) }[event.key.toLowerCase()];
    if (event.defaultPrevented || !isSingleKey(event)) return;
    if (step !== undefined) {
      const next = at === -1 ? rows.find((other) => other.dataset['row'] === last.current?.id) ?? rows[0] : rows[at + step];
      next?.focus();
    } else if (row === undefined || id === undefined) return;
    else if (event.key === 'Enter' && isOnRow) row.querySelector<HTMLElement>('th a')?.click();
    else if (event.key.toLowerCase() === 'e' && onEdit !== undefined) onEdit(id);
    else if (event.key === '.') row.querySelector<HTMLElement>('.more button')?.click();
    else if (event.key.toLowerCase() === 'x' && selection !== undefined) {
      const isSelected = selection.ids.has(id);
      const from = event.shiftKey && anchor.current !== undefined ? ids.indexOf(anchor.current) : at;
      if (event.shiftKey && from !== -1) selection.toggle(ids.slice(Math.min(from, at), Math.max(from, at) + 1), true);
      else selection.toggle([id], !isSelected);
      anchor.current = id;
    } else return;
    event.preventDefault();
  });
  useEffect(() => {
    const remember = ({ target }: FocusEvent): void => {
      const row = target instanceof Element ? target.closest<HTMLElement>('tr[data-row]') : null;
      const id = row?.dataset['row'];
      if (row !== null && id !== undefined) last.current = { id, at: rowsOf(body.current).indexOf(row) };
    };
    const element = body.current;
    element?.addEventListener('focusin', remember);
    document.addEventListener('keydown', press);
    return () => {
      element?.removeEventListener('focusin', remember);
      document.removeEventListener('keydown', press);
    };
  }, [body]);
  useEffect(() => {
    const { current } = last;
    if (current === undefined || ids.includes(current.id) || document.activeElement !== document.body) return;
    const rows = rowsOf(body.current);
    rows[Math.min(current.at, rows.length - 1)]?.focus();
  }, [body, ids]);
}
