/**
 * The URL of a file of this package. This module is in src during tests, and otherwise part of a file in dist; both
 * are one level below the package.
 * @param path relative to package.json
 */
export function packageFile(path: string): URL {
  return new URL(`../${path}`, import.meta.url);
}
