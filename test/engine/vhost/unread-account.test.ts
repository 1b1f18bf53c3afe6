import { afterEach, expect, jest, test } from '@jest/globals';
import { UnreadAccount, UnreadAccounts } from '../../../src/engine/vhost/unread-account.ts';

const MB = 1024 * 1024;

/** Holds bytes in an account, as a stream does, until it is reset. */
class Holder {
  readonly peer = '192.0.2.1';
  resets = 0;
  bytes = 0;
  readonly #account: UnreadAccount;

  constructor(account: UnreadAccount) {
    this.#account = account;
    account.open(this);
  }

  hold(bytes: number): void {
    const more = bytes - this.bytes;
    this.bytes = bytes;
    this.#account.add(more);
  }

  recount(): number {
    return this.bytes;
  }

  reset(): void {
    this.resets++;
    this.hold(0);
  }
}

let now = 0;
const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
afterEach(() => {
  now = 0;
});

/** Whether streams get less credit, requests have to wait, and what was reset when a connection holds so much. */
function stateOf(account: UnreadAccount, holder: Holder, bytes: number) {
  now += 1000;
  holder.hold(bytes);
  return [account.tight, account.hasRoom, holder.resets];
}

test('of a connection behind a trusted proxy, 4 MB make credit scarce, 8 MB let requests wait, and above 32 MB streams are reset', () => {
  const { account, close } = new UnreadAccounts().open(undefined);
  const holder = new Holder(account);
  expect([4 * MB, 4 * MB + 1, 8 * MB, 8 * MB + 1, 32 * MB, 32 * MB + 1].map((bytes) => stateOf(account, holder, bytes))).toEqual([
    [false, true, 0],
    [true, true, 0],
    [true, true, 0],
    [true, false, 0],
    [true, false, 0],
    // Counted when a request asks for room.
    [true, true, 1],
  ]);
  expect(account.tight).toBe(false);
  close();
});

test('the connections of an address, for IPv6 of a network, share 8, 16 and 32 MB', () => {
  const accounts = new UnreadAccounts();
  const [one, two, other] = ['2001:db8::1', '2001:db8::2', '2001:db8:0:1::1'].map((address) => accounts.open(address));
  if (!one || !two || !other) throw new Error('there are three');
  const [first, second] = [new Holder(one.account), new Holder(two.account)];
  first.hold(4 * MB);
  expect([4 * MB, 4 * MB + 1].map((bytes) => stateOf(two.account, second, bytes))).toEqual([[false, true, 0], [true, true, 0]]);
  second.hold(0);
  first.hold(8 * MB + 1);
  expect([one, two, other].map(({ account }) => account.tight)).toEqual([true, true, false]);
  second.hold(8 * MB - 1);
  now += 1000;
  expect([two.account.hasRoom, other.account.hasRoom]).toEqual([true, true]);
  second.hold(8 * MB);
  now += 1000;
  expect([two.account.hasRoom, other.account.hasRoom]).toEqual([false, true]);
  first.hold(16 * MB);
  second.hold(16 * MB);
  expect([first.resets, second.resets]).toEqual([0, 0]);
  second.hold(16 * MB + 1);
  now += 1000;
  expect(two.account.hasRoom).toBe(true);
  expect([first.resets, second.resets]).toEqual([0, 1]);
  // What one connection held ends with it, and the address is forgotten with its last one.
  one.account.close(first);
  one.close();
  now += 1000;
  first.bytes = 0;
  expect(two.account.hasRoom).toBe(true);
  two.close();
  expect(accounts.open('2001:db8::1').account.tight).toBe(false);
});

test('requests that wait begin in their order, eight at a time, when there is room, and not if they were withdrawn', () => {
  clock.mockRestore();
  jest.useFakeTimers();
  try {
    const account = new UnreadAccount({ tight: 10, room: 20, most: 1000 });
    const holder = new Holder(account);
    holder.hold(21);
    const begun: number[] = [];
    const cancel = Array.from({ length: 11 }, (_, nth) => account.wait(() => begun.push(nth)));
    cancel[1]?.();
    jest.advanceTimersByTime(1000);
    expect(begun).toEqual([]);
    holder.bytes = 20; // it was read, and nobody says so
    jest.advanceTimersByTime(100);
    expect(begun).toEqual([0, 2, 3, 4, 5, 6, 7, 8]);
    jest.advanceTimersByTime(99);
    expect(begun).toHaveLength(8);
    jest.advanceTimersByTime(1);
    expect(begun.slice(8)).toEqual([9, 10]);
    expect(jest.getTimerCount()).toBe(0);
    // One that fills the room lets the others wait.
    for (const nth of [20, 21]) {
      account.wait(() => {
        begun.push(nth);
        holder.hold(21);
      });
    }
    jest.advanceTimersByTime(300);
    expect(begun.slice(10)).toEqual([20]);
    holder.hold(0);
    jest.advanceTimersByTime(100);
    expect(begun.slice(10)).toEqual([20, 21]);
  } finally {
    jest.useRealTimers();
  }
});
