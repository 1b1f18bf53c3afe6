import { splitIpList } from '../../rules/ip-list.ts';
import type { Context } from '../context.ts';

/** A list with more characters is split in its own time slice: an administrator's list may have 1 MB, which is 80,000 texts. */
const LONG = 64 * 1024;

/** The addresses of a stored list. A long list waits for a time slice of its caller. */
export function ipListOf(context: Context, stored: string): string[] | Promise<string[]> {
  const slice = stored.length > LONG ? context.nextSlice() : undefined;
  return slice ? slice.then(() => splitIpList(stored)) : splitIpList(stored);
}
