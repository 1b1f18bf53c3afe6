import { useEffect, useEffectEvent } from 'react';
import { useLocation } from 'wouter';
import { kept } from '../language/kept.ts';

/** The pages behind G and a letter. */
export const places: Readonly<Record<string, string>> = {
  d: '/',
  c: '/clients',
  t: '/tunnels',
  h: '/hosts',
  x: '/diagnosis',
  u: '/users',
  a: '/audit',
  s: '/settings',
};
/** The lists in which N creates a record. */
const creating = ['/clients', '/tunnels', '/hosts', '/users'];
/** The letter has to follow G within this many ms. */
const sequenceMs = 1500;

/** Handles the keys that work on every page. @param pages the addresses that the viewer may open */
export function useShortcuts(
  { pages, mayCreate, onFind, onHelp }: {
    readonly pages: readonly string[];
    readonly mayCreate: boolean;
    readonly onFind: () => void;
    readonly onHelp: () => void;
  },
): void {
  const [path, navigate] = useLocation();
  const press = useEffectEvent((event: KeyboardEvent, isAfterG: boolean): boolean => {
    const key = event.key.toLowerCase();
    if ((event.ctrlKey || event.metaKey) && key === 'k') {
      event.preventDefault();
      onFind();
      return false;
    }
    if (!isSingleKey(event)) return false;
    const place = isAfterG ? places[key] : undefined;
    if (place !== undefined && pages.includes(place)) navigate(place);
    else if (key === '/') onFind();
    else if (key === '?') onHelp();
    else if (key === 'n' && mayCreate && creating.includes(path)) navigate(`${path}/new`);
    else return key === 'g';
    event.preventDefault();
    return false;
  });
  useEffect(() => {
    let afterG = 0;
    const onKey = (event: KeyboardEvent): void => {
      const isG = press(event, event.timeStamp - afterG < sequenceMs);
      afterG = isG ? event.timeStamp : -sequenceMs;
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}

/** Whether a key is a shortcut of its own. Single keys do nothing in fields and windows, and can be switched off (WCAG 2.1.4). */
export function isSingleKey({ ctrlKey, metaKey, altKey, target }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey || kept('shortcuts') === 'off') return false;
  return !(target instanceof Element
    && target.closest('input:not([type=checkbox]), textarea, select, [role=menu], [role=dialog], [role=alertdialog], [contenteditable]') !== null);
}
