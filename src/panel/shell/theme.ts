import { keep, kept } from '../language/kept.ts';

/** Uses the theme that was chosen earlier; otherwise the system's. */
export function applyTheme(): void {
  const theme = kept('theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme;
}

/** Uses the height of rows that was chosen earlier. */
export function applyDensity(): void {
  document.documentElement.dataset['density'] = kept('density') === 'compact' ? 'compact' : 'comfortable';
}

/** Changes between light and dark. */
export function switchTheme(): void {
  const { dataset } = document.documentElement;
  const isDark = dataset['theme'] === undefined ? matchMedia('(prefers-color-scheme: dark)').matches : dataset['theme'] === 'dark';
  dataset['theme'] = isDark ? 'light' : 'dark';
  keep('theme', dataset['theme']);
}
