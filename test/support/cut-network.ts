import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { programPath } from './find-program.ts';
import { scratchDirectory } from './scratch.ts';

const NETWORK = '203.0.113';

/** Places with a network stack and an address each, and this machine beside them. The way between any two can be cut: what one sends to the other is lost, without a word. */
export class CutNetwork {
  readonly #prefix = `adit${process.pid}-c`;
  readonly #link = `ac${process.pid}`;
  readonly #places: readonly string[];
  /** This machine's addresses in it: two, so that the ways to each can be cut separately. */
  readonly #here: ReadonlyMap<string, string> = new Map([['host', `${NETWORK}.193`], ['database', `${NETWORK}.194`]]);

  /** Makes it. @throws {Error} when this process may not */
  constructor(places: readonly string[]) {
    this.#places = places;
    const hub = this.#nameOf('hub');
    this.#ip('netns', 'add', hub);
    this.#in('hub', 'ip', 'link', 'add', 'bridge', 'type', 'bridge');
    this.#in('hub', 'ip', 'link', 'set', 'bridge', 'up');
    this.#ip('link', 'add', this.#link, 'type', 'veth', 'peer', 'name', 'host', 'netns', hub);
    for (const address of this.#here.values()) this.#ip('addr', 'add', `${address}/26`, 'dev', this.#link);
    this.#ip('link', 'set', this.#link, 'up');
    this.#plug('host');
    for (const place of places) {
      this.#ip('netns', 'add', this.#nameOf(place));
      this.#in(place, 'ip', 'link', 'set', 'lo', 'up');
      this.#in(place, 'ip', 'link', 'add', 'out', 'type', 'veth', 'peer', 'name', place, 'netns', hub);
      this.#in(place, 'ip', 'addr', 'add', `${this.addressOf(place)}/26`, 'dev', 'out');
      this.#in(place, 'ip', 'link', 'set', 'out', 'up');
      this.#plug(place);
    }
    this.heal();
  }

  /** The address of a place. @param place `host` and `database` = this machine */
  addressOf(place: string): string {
    return this.#here.get(place) ?? `${NETWORK}.${195 + this.#places.indexOf(place)}`;
  }

  /** A program that runs Node at a place. */
  nodeAt(place: string): string {
    const file = path.join(scratchDirectory(), 'node');
    writeFileSync(file, `#!/bin/sh\nexec ${programPath('ip')} netns exec ${this.#nameOf(place)} ${process.execPath} "$@"\n`, { mode: 0o755 });
    return file;
  }

  /** Cuts the way between two places. @param one as for {@link addressOf} */
  cut(one: string, other: string): void {
    for (const [from, to] of [[one, other], [other, one]] as const) {
      this.#in('hub', 'nft', 'add', 'rule', 'bridge', 'cut', 'forward', 'ip', 'saddr', this.addressOf(from), 'ip', 'daddr', this.addressOf(to), 'drop');
    }
  }

  /** Nothing is cut any more. */
  heal(): void {
    this.#in(
      'hub',
      'nft',
      'add table bridge cut; delete table bridge cut; add table bridge cut; add chain bridge cut forward { type filter hook forward priority 0; }',
    );
  }

  /** Takes it away. Its programs have to be gone. */
  remove(): void {
    this.#ip('link', 'del', this.#link);
    for (const place of ['hub', ...this.#places]) this.#ip('netns', 'del', this.#nameOf(place));
  }

  #plug(port: string): void {
    this.#in('hub', 'ip', 'link', 'set', port, 'master', 'bridge', 'up');
  }

  #nameOf(place: string): string {
    return `${this.#prefix}-${place}`;
  }

  #in(place: string, program: 'ip' | 'nft', ...args: string[]): void {
    this.#ip('netns', 'exec', this.#nameOf(place), programPath(program), ...args);
  }

  #ip(...args: string[]): void {
    execFileSync(programPath('ip'), args);
  }
}
