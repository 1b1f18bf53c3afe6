import { execFileSync } from 'node:child_process';
import process from 'node:process';
import { Child } from './child.ts';
import { programPath } from './find-program.ts';

/** Connects so many times to each port, sends a text, ends every second connection's direction, and says when all is done. */
const program = `
const net = require('node:net');
const { host, ports, count, text } = JSON.parse(process.argv[1]);
const all = ports.flatMap((port) => Array.from({ length: count }, (_, index) => new Promise((resolve, reject) => {
  const socket = net.connect({ host, port, allowHalfOpen: true }).on('error', reject).resume();
  socket.once('connect', () => { index % 2 ? socket.end(text, resolve) : socket.write(text, resolve); });
})));
Promise.all(all).then(() => console.log('connected'));
`;

/** A network beside this machine's, whose peers can vanish without a word. */
export class VanishingNetwork {
  readonly #name = `adit${process.pid}-v`;
  /** This machine's address in it. */
  readonly host = '203.0.113.129';

  /** Makes it. @throws {Error} when this process may not */
  constructor() {
    this.#ip('netns', 'add', this.#name);
    this.#ip('link', 'add', this.#link, 'type', 'veth', 'peer', 'name', 'out', 'netns', this.#name);
    this.#ip('addr', 'add', `${this.host}/30`, 'dev', this.#link);
    this.#ip('link', 'set', this.#link, 'up');
    this.#ip('-n', this.#name, 'addr', 'add', '203.0.113.130/30', 'dev', 'out');
    this.#ip('-n', this.#name, 'link', 'set', 'out', 'up');
  }

  get #link(): string {
    return `av${process.pid}`;
  }

  #ip(...args: string[]): void {
    execFileSync(programPath('ip'), args);
  }

  /** Makes `count` connections to each port from there, each of which sends `text`; every second one ends its direction then. */
  async visit(ports: readonly number[], count: number, text: string): Promise<void> {
    const child = new Child(programPath('ip'), [
      'netns',
      'exec',
      this.#name,
      process.execPath,
      '-e',
      program,
      JSON.stringify({ host: this.host, ports, count, text }),
    ]);
    await child.says(/connected/);
  }

  /** From now on nothing reaches its peers, and nothing comes from them. */
  vanish(): void {
    this.#ip('link', 'set', this.#link, 'down');
  }

  /** Takes it away. Its programs have to be gone. */
  remove(): void {
    this.#ip('link', 'del', this.#link);
    this.#ip('netns', 'del', this.#name);
  }
}
