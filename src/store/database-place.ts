import { StoreError } from './errors.ts';

/** Host, port and database of a URL, without its password. @throws {StoreError} if the URL is invalid */
export function databasePlace(url: string): string {
  if (!URL.canParse(url)) throw new StoreError('the database address is not a valid postgresql:// URL');
  const { hostname, port, pathname, searchParams } = new URL(url);
  return `${searchParams.get('host') ?? (hostname || 'localhost')}:${port || 5432}${pathname}`;
}

/** What the operator reads about a database that the start can't use. @param where see {@link databasePlace} */
export function unreachable(where: string, reason: string): string {
  return `can't reach the database at ${where}: ${reason}; check that PostgreSQL runs and answers there, and the setting database_url`;
}
