import { splitIpList, StoredIpList } from '../../rules/ip-list.ts';
import type { Context } from '../context.ts';

/** The addresses of a stored list: split for GraphQL, whose results are limited; otherwise only when they are written. */
export function ipListOf({ results }: Context, stored: string): Iterable<string> {
  return results === undefined ? new StoredIpList(stored) : splitIpList(stored);
}
