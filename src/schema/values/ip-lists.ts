import { splitIpList } from '../../rules/ip-list.ts';
import type { Context } from '../context.ts';

/** A list with more characters is split in a time slice of its own: an administrator's may have 1 MB, which makes 80,000 texts. */
const LONG = 64 * 1024;

/** The addresses of a stored list. Long ones come when their caller has a time slice for them. */
export function ipListOf(context: Context, stored: string): string[] | Promise<string[]> {
  const slice = stored.length > LONG ? context.nextSlice() : undefined;
  return slice ? slice.then(() => splitIpList(stored)) : splitIpList(stored);
}
