import { AddressSet, addressSet } from '../../rules/ip-access.ts';
import type { WantedClient } from '../face.ts';

/** The compiled access lists of a client's visitors, so that no connection waits for compiling. */
export interface VisitorLists {
  readonly white: AddressSet;
  readonly black: AddressSet;
}

const NO_LISTS: VisitorLists = { white: addressSet([]), black: addressSet([]) };

/** Compiles the lists of a new client. */
export async function visitorLists({ ipWhiteList, blackIpList }: WantedClient): Promise<VisitorLists> {
  if (ipWhiteList.length + blackIpList.length === 0) return NO_LISTS;
  return { white: await AddressSet.gradually(ipWhiteList), black: await AddressSet.gradually(blackIpList) };
}

/** Whether two lists are the same. */
export function sameLines(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((line, index) => line === other[index]);
}
