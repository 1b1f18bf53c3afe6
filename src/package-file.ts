/**
 * A file of this package, by its path beside package.json. This module is in src when tests run, and a part of a file in dist otherwise: both
 * are one level below.
 */
export function packageFile(path: string): URL {
  return new URL(`../${path}`, import.meta.url);
}
