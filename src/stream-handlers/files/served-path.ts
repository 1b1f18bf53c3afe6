import { readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { errnoOf } from '../../wire/system-error.ts';

/** The file or directory of a URL, links resolved; `refused` = outside of what may be served, or hidden. */
export type Served =
  | { readonly kind: 'file' | 'directory'; readonly root: string; readonly path: string }
  | { readonly kind: 'missing' | 'notAllowed' };

/** The files that a tunnel serves. */
export interface Site {
  /** The tunnel's directory on the agent's machine. */
  readonly path: string;
  /** Prefix that is removed from the URL's path; other paths are not found. "" = none. */
  readonly stripPrefix: string;
}

/** The part of a URL's path below the prefix, beginning with a slash; undefined = it is not below it. Both are still encoded. */
export function withoutPrefix(pathname: string, stripPrefix: string): string | undefined {
  const prefix = `/${stripPrefix}`.replace(/\/+/g, '/').replace(/\/$/, '');
  if (pathname === prefix) return '';
  return pathname.startsWith(`${prefix}/`) ? pathname.slice(prefix.length) : undefined;
}

/**
 * Resolves the path of a URL below a site, by the real path: links, dots and encodings cannot lead out of the site.
 * @param roots real paths of the directories that the agent's operator allows
 */
export async function servedPath(site: Site, roots: readonly string[], encoded: string): Promise<Served> {
  const root = await real(site.path);
  if (root === undefined || !path.isAbsolute(site.path) || !roots.some((allowed) => mayServe(root, allowed))) return { kind: 'notAllowed' };
  const decoded = decode(encoded);
  if (decoded === undefined || decoded.split('/').some(isHidden)) return { kind: 'missing' };
  const found = await real(path.join(root, decoded));
  if (found === undefined || !isWithin(found, root)) return { kind: 'missing' };
  const stats = await stat(found);
  if (stats.isDirectory()) return { kind: 'directory', root, path: found };
  // Devices, pipes and sockets can't be served as files.
  return stats.isFile() && !decoded.endsWith('/') ? { kind: 'file', root, path: found } : { kind: 'missing' };
}

/** The names of the links in a directory that lead out of the root, or nowhere: a listing must not reveal them. */
export async function escapingLinks(root: string, directory: string): Promise<ReadonlySet<string>> {
  const links = (await readdir(directory, { withFileTypes: true })).filter((entry) => entry.isSymbolicLink());
  const escaping = await Promise.all(links.map(async ({ name }) => {
    const target = await real(path.join(directory, name));
    return target === undefined || !isWithin(target, root) ? [name] : [];
  }));
  return new Set(escaping.flat());
}

/** Names that begin with a dot are hidden: .git, .ssh, and the parent directory. */
function isHidden(segment: string): boolean {
  return segment.startsWith('.');
}

/** Whether a site may be below an allowed directory. The server names the site: like a visitor, it must not get at what is hidden there. */
function mayServe(site: string, allowed: string): boolean {
  return isWithin(site, allowed) && !path.relative(allowed, site).split(path.sep).some(isHidden);
}

function decode(encoded: string): string | undefined {
  try {
    const decoded = decodeURIComponent(encoded);
    return decoded.includes('\0') || (path.sep === '\\' && /[\\:]/.test(decoded)) ? undefined : decoded;
  } catch {
    return undefined; // invalid encoding
  }
}

function isWithin(inner: string, outer: string): boolean {
  const relative = path.relative(outer, inner);
  return relative === '' || (!path.isAbsolute(relative) && relative.split(path.sep)[0] !== '..');
}

/** The real path; undefined = it doesn't exist, or isn't accessible. */
async function real(file: string): Promise<string | undefined> {
  try {
    return await realpath(file);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'ENAMETOOLONG', 'EPERM'].includes(errnoOf(error))) return undefined;
    throw error;
  }
}
