import { canonicalBindAddress } from './bind-address.ts';

/** The lists that decide whether a visitor is let in (contract 4.9): exact addresses. */
export interface AccessLists {
  readonly globalBlackList: readonly string[];
  /** Whether only visitors of `whiteList` are let in (contract D14). */
  readonly ipWhite: boolean;
  readonly whiteList: readonly string[];
  readonly blackList: readonly string[];
}

/** The list that turns a visitor away, the first that does (contract 4.9); undefined = he is let in. */
export function turnedAwayBy(address: string, lists: AccessLists): 'globalBlackList' | 'whiteList' | 'blackList' | undefined {
  const visitor = canonical(address);
  const holds = (list: readonly string[]) => list.some((item) => canonical(item) === visitor);
  if (holds(lists.globalBlackList)) return 'globalBlackList';
  if (lists.ipWhite && !holds(lists.whiteList)) return 'whiteList';
  return holds(lists.blackList) ? 'blackList' : undefined;
}

function canonical(address: string): string {
  return canonicalBindAddress(address) ?? address.trim();
}
