import { AddressSet } from '../../rules/ip-access.ts';
import { splitIpList } from '../../rules/ip-list.ts';
import type { WantedClient } from '../face.ts';

/** The compiled access lists of a client's visitors, so that no connection waits for compiling. */
export interface VisitorLists {
  readonly white: AddressSet;
  readonly black: AddressSet;
}

const NO_LISTS: VisitorLists = { white: AddressSet.none, black: AddressSet.none };

/** Compiles the lists of a new client. Most have none: then there is no promise either, which would cost a start with many clients more than the client. */
export function visitorLists({ ipWhiteList, blackIpList }: WantedClient): VisitorLists | Promise<VisitorLists> {
  return ipWhiteList === '' && blackIpList === '' ? NO_LISTS : compiled(ipWhiteList, blackIpList);
}

async function compiled(white: string, black: string): Promise<VisitorLists> {
  return { white: await compiledList(white), black: await compiledList(black) };
}

/** Compiles one list in its stored form. */
export function compiledList(stored: string): Promise<AddressSet> {
  return AddressSet.gradually(splitIpList(stored));
}
