import { AddressSet, addressSet } from '../../rules/ip-access.ts';
import type { WantedClient } from '../face.ts';

/** The compiled access lists of a client's visitors, so that no connection waits for compiling. */
export interface VisitorLists {
  readonly white: AddressSet;
  readonly black: AddressSet;
}

const NO_LISTS: VisitorLists = { white: addressSet([]), black: addressSet([]) };

/** Compiles the lists of a new client. Most have none: then there is no promise either, which would cost a start with many clients more than the client. */
export function visitorLists({ ipWhiteList, blackIpList }: WantedClient): VisitorLists | Promise<VisitorLists> {
  return ipWhiteList.length + blackIpList.length === 0 ? NO_LISTS : compiled(ipWhiteList, blackIpList);
}

async function compiled(white: readonly string[], black: readonly string[]): Promise<VisitorLists> {
  return { white: await AddressSet.gradually(white), black: await AddressSet.gradually(black) };
}

/** Whether two lists are the same. */
export function sameLines(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((line, index) => line === other[index]);
}
