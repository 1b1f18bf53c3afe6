/**
 * The canonical spelling of a rule's URL path: with a leading slash and without a trailing one; '' = '/', every path (contract 2.5).
 * @returns undefined if no path can match it: it contains a space, a query or a fragment
 */
export function hostLocation(text: string): string | undefined {
  const trimmed = text.trim();
  // oxlint-disable-next-line no-control-regex
  if (/[\s?#\0-\x1f\x7f]/.test(trimmed)) return undefined;
  let end = trimmed.length;
  while (end > 0 && trimmed[end - 1] === '/') end--;
  const path = trimmed.slice(0, end);
  return path.startsWith('/') ? path : `/${path}`;
}

/** Whether a location covers a path, both in routed form: the path equals it, or continues with a slash (contract 4.7: `/api` doesn't cover `/apiary`). */
export function covers(location: string, path: string): boolean {
  if (location === '/') return true;
  if (!path.startsWith(location)) return false;
  const next = path[location.length];
  return next === undefined || next === '/';
}
