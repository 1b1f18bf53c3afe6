import { octets } from './octets.ts';

/**
 * The one reading of a request's path, for the routing of hosts, their diagnosis and file tunnels. Programs behind this server read
 * paths in their own ways, so what a rule's location was compared with must be what they can make of it.
 */

/** A path that everybody reads in the same way: no escapes, no empty segments, none that begins with a dot, no parameters. */
const plain = /^(?:\/[\w~!$&'()*+,=:@-][\w~!$&'()*+,=:@.-]*)*\/?(?:\?|$)/;

/**
 * The path to pass on, with its query as it came: dot segments (`..`, `%2e%2E`) are resolved, `\` becomes `/`, and only one slash is left at the
 * beginning (`//admin` is another host's root to some programs). Everything else stays as it was sent. What doesn't begin with a
 * slash, as `*`, stays too.
 * @param target each character is one byte, or it is a text of ASCII
 * @returns undefined when it leads above the root, or programs differ about what it means: dot segments behind an escaped slash or with
 * parameters (`%2f..`, `..;x`), an escaped slash behind parameters, a NUL, a fragment
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
    // A directory, as it was asked for.
    if (at === segments.length - 1) kept.push('');
  }
  return `/${kept.join('/')}${query}`;
}

/** Goes up by one; empty segments are nothing to leave. @returns false at the root */
function leaveSegment(kept: string[]): boolean {
  while (kept.at(-1) === '') kept.pop();
  return kept.pop() !== undefined;
}

/** Whether some programs find dot segments in a segment, its end, a slash behind its parameters, or nothing but these, and others don't. */
function isAmbiguous(segment: string): boolean {
  if (!/[%;]/.test(segment)) return false;
  const decoded = unescaped(segment);
  const parameters = decoded.indexOf(';');
  if (parameters >= 0 && /[/\\]/.test(decoded.slice(parameters))) return true;
  return decoded.includes('\0') || decoded.split(/[/\\]/).some((part) => part.startsWith(';') || /^\.\.?$/.test(withoutParameters(part).trim()));
}

/**
 * What locations are compared with: the path without its query, escapes decoded, `\` and `%2f` as slashes, one slash where there are
 * several, without parameters (`;x`) and without a slash at its end. Two paths that a program could take for the same are the same here.
 * @param path as `resolvedPath` returns it
 */
export function routedPath(path: string): string {
  if (!path.startsWith('/')) return path;
  if (plain.test(path)) return withoutEndSlash(cutQuery(path)[0]);
  const segments = unescaped(cutQuery(path)[0]).split(/[/\\]/).map(withoutParameters).filter((segment) => segment !== '');
  return `/${segments.join('/')}`;
}

/** The path of a rule as it is compared with `routedPath`. @param location any text, as `hostLocation` spells it */
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

/** Decoded once, as programs do; what is no escape stays. */
function unescaped(text: string): string {
  return text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
