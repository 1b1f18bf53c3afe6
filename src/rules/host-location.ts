/**
 * The URL path of a rule in its one spelling: with a slash before it and none after it; '' = '/', every path (contract 2.5).
 * @returns undefined when no path can look like this: it holds a blank, a query or a fragment
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

/** Whether a location covers a path, both as they are routed by: up to its end or a slash (contract 4.7: `/api` is not for `/apiary`). */
export function covers(location: string, path: string): boolean {
  if (location === '/') return true;
  if (!path.startsWith(location)) return false;
  const next = path[location.length];
  return next === undefined || next === '/';
}
