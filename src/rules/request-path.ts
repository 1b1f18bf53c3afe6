import { octets } from './octets.ts';

/**
 * How the path of a request is interpreted, for the routing of hosts, their diagnosis and file tunnels. Programs behind this server
 * interpret paths in different ways, so a location must be compared with every interpretation that they could use.
 */

/** A path with only one interpretation: no escapes, no empty segments, no segment that begins with a dot, no parameters. */
const plain = /^(?:\/[\w~!$&'()*+,=:@-][\w~!$&'()*+,=:@.-]*)*\/?(?:\?|$)/;

/**
 * The path to forward, with its query unchanged: dot segments (`..`, `%2e%2E`) are resolved, `\` becomes `/`, and leading slashes are reduced
 * to one (some programs treat `//admin` as the root of another host). Everything else stays unchanged, and so does a target that doesn't begin
 * with a slash, such as `*`.
 * @param target each character is one byte, or it is ASCII text
 * @returns undefined if the path leads above the root, or if programs interpret it in different ways: dot segments after an escaped slash or with
 * parameters (`%2f..`, `..;x`), an escaped slash after parameters, a NUL, a fragment
 */
export function resolvedPath(target: string): string | undefined {
  if (plain.test(target) || !target.startsWith('/')) return target;
  const [path, query] = cutQuery(target);
  if (path.includes('#')) return undefined;
  const segments = path.replaceAll('\\', '/').split('/').slice(1);
  const kept: string[] = [];
  for (const [at, segment] of segments.entries()) {
    const dots = segment.replaceAll(/%2e/gi, '.');
    if (dots !== '.' && dots !== '..') {
      if (isAmbiguous(segment)) return undefined;
      if (segment !== '' || kept.length > 0 || at === segments.length - 1) kept.push(segment);
      continue;
    }
    if (dots === '..' && !leaveSegment(kept)) return undefined;
    // Keeps the trailing slash of a directory.
    if (at === segments.length - 1) kept.push('');
  }
  return `/${kept.join('/')}${query}`;
}

/** Removes the last segment; empty segments don't count. @returns false at the root */
function leaveSegment(kept: string[]): boolean {
  while (kept.at(-1) === '') kept.pop();
  return kept.pop() !== undefined;
}

/** Whether some programs find dot segments, an end, or a slash after parameters in a segment, and others don't. */
function isAmbiguous(segment: string): boolean {
  if (!/[%;]/.test(segment)) return false;
  const decoded = unescaped(segment);
  const parameters = decoded.indexOf(';');
  if (parameters >= 0 && /[/\\]/.test(decoded.slice(parameters))) return true;
  return decoded.includes('\0') || decoded.split(/[/\\]/).some((part) => part.startsWith(';') || /^\.\.?$/.test(withoutParameters(part).trim()));
}

/**
 * The form of a path that is compared with locations: without query, escapes decoded, `\` and `%2f` as slashes, repeated slashes merged,
 * without parameters (`;x`) and without a trailing slash. Two paths that some program could treat as equal are equal in this form.
 * @param path as returned by `resolvedPath`
 */
export function routedPath(path: string): string {
  if (!path.startsWith('/')) return path;
  if (plain.test(path)) return withoutEndSlash(cutQuery(path)[0]);
  const segments = unescaped(cutQuery(path)[0]).split(/[/\\]/).map(withoutParameters).filter((segment) => segment !== '');
  return `/${segments.join('/')}`;
}

/** A rule's location in the form that is compared with `routedPath`. @param location in the spelling of `hostLocation` */
export function routedLocation(location: string): string {
  const path = octets(location);
  return routedPath(resolvedPath(path) ?? path);
}

function cutQuery(target: string): readonly [path: string, query: string] {
  const at = target.indexOf('?');
  return at < 0 ? [target, ''] : [target.slice(0, at), target.slice(at)];
}

function withoutEndSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

function withoutParameters(segment: string): string {
  const at = segment.indexOf(';');
  return at < 0 ? segment : segment.slice(0, at);
}

/** Decodes escapes once; invalid escapes stay unchanged. */
function unescaped(text: string): string {
  return text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
