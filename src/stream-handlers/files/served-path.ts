import { readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { errnoOf } from '../../wire/system-error.ts';

/** What a URL leads to, links resolved; `refused` = outside of what may be served, or hidden. */
export type Served =
  | { readonly kind: 'file' | 'directory'; readonly root: string; readonly path: string }
  | { readonly kind: 'missing' | 'notAllowed' };

/** What a tunnel serves. */
export interface Site {
  /** As the tunnel names it: a directory of the agent's machine. */
  readonly path: string;
  /** Taken off the beginning of the URL's path; without it there is nothing. "" = nothing to take off. */
  readonly stripPrefix: string;
}

/** The part of a URL's path below the prefix, beginning with a slash; undefined = it is not below it. Both are still encoded. */
export function withoutPrefix(pathname: string, stripPrefix: string): string | undefined {
  const prefix = `/${stripPrefix}`.replace(/\/+/g, '/').replace(/\/$/, '');
  if (prefix === '') return pathname;
  if (pathname === prefix) return '';
  return pathname.startsWith(`${prefix}/`) ? pathname.slice(prefix.length) : undefined;
}

/**
 * Finds what a URL's path leads to below a site, by what is really there: nothing outside the site, whatever links, dots or encodings say.
 * @param roots real paths of the directories that the agent's operator allows
 */
export async function servedPath(site: Site, roots: readonly string[], encoded: string): Promise<Served> {
  const root = await real(site.path);
  if (root === undefined || !path.isAbsolute(site.path) || !roots.some((allowed) => isWithin(root, allowed))) return { kind: 'notAllowed' };
  const decoded = decode(encoded);
  if (decoded === undefined || decoded.split('/').some(isHidden)) return { kind: 'missing' };
  const found = await real(path.join(root, decoded));
  if (found === undefined || !isWithin(found, root)) return { kind: 'missing' };
  const stats = await stat(found);
  if (stats.isDirectory()) return { kind: 'directory', root, path: found };
  // Devices, pipes and sockets are no files to read.
  return stats.isFile() && !decoded.endsWith('/') ? { kind: 'file', root, path: found } : { kind: 'missing' };
}

/** The names of the links in a directory that lead out of the root, or nowhere: a list would tell of what is there. */
export async function escapingLinks(root: string, directory: string): Promise<ReadonlySet<string>> {
  const links = (await readdir(directory, { withFileTypes: true })).filter((entry) => entry.isSymbolicLink());
  const escaping = await Promise.all(links.map(async ({ name }) => {
    const target = await real(path.join(directory, name));
    return target === undefined || !isWithin(target, root) ? [name] : [];
  }));
  return new Set(escaping.flat());
}

/** Names with a dot before them are nobody's business: .git, .ssh, and the way up. */
function isHidden(segment: string): boolean {
  return segment.startsWith('.');
}

function decode(encoded: string): string | undefined {
  try {
    const decoded = decodeURIComponent(encoded);
    return decoded.includes('\0') || (path.sep === '\\' && /[\\:]/.test(decoded)) ? undefined : decoded;
  } catch {
    return undefined; // no encoding at all
  }
}

function isWithin(inner: string, outer: string): boolean {
  const relative = path.relative(outer, inner);
  return relative === '' || (!path.isAbsolute(relative) && relative.split(path.sep)[0] !== '..');
}

/** The real path; undefined = there is nothing, or nothing that we may see. */
async function real(file: string): Promise<string | undefined> {
  try {
    return await realpath(file);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'ENAMETOOLONG', 'EPERM'].includes(errnoOf(error))) return undefined;
    throw error;
  }
}
