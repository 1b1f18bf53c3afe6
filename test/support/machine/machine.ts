import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { Child } from '../child.ts';
import { programPath } from '../find-program.ts';
import { scratchDirectory } from '../scratch.ts';

const run = promisify(execFile);
const boot = path.join(import.meta.dirname, 'boot.sh');
const cache = path.resolve(import.meta.dirname, '../../../.cache/debian');
/** What the base system has beyond the minimum: systemd, curl, and the packages that ours depends on, since machines can't download any. */
const PACKAGES = ['adduser', 'ca-certificates', 'curl', 'dbus', 'libatomic1', 'systemd-sysv'];

/** What a machine changes by itself. */
const BY_ITSELF =
  /^(dev|proc|run|sys|tmp|root|var\/(cache|log|tmp)|var\/lib\/(apt|dpkg|dbus)|var\/lib\/systemd\/(catalog|random-seed|timers|timesync)|etc\/(\.pwd\.lock|machine-id|(passwd|group|shadow|gshadow|subuid|subgid)-))$/;

/** What a command of a machine printed, and how it ended. */
export interface Outcome {
  readonly code: number;
  readonly output: string;
}

/** A root file system with nothing of ours, made by debootstrap when it is first needed. @returns a copy */
async function debian(): Promise<string> {
  const base = path.join(cache, ['bookworm', ...PACKAGES].join('+'));
  if (!existsSync(base)) {
    const fresh = `${base}.${process.pid}`;
    mkdirSync(cache, { recursive: true });
    rmSync(fresh, { recursive: true, force: true }); // left behind by an attempt that failed
    await run('/usr/sbin/debootstrap', ['--variant=minbase', `--include=${PACKAGES.join(',')}`, 'bookworm', fresh], { maxBuffer: 2 ** 26 });
    renameSync(fresh, base);
  }
  const root = path.join(scratchDirectory(), 'root');
  await run('cp', ['--archive', base, root]);
  return root;
}

/** A machine with Debian: a root file system whose process 1 runs in namespaces of its own, without a way to the network of this machine. */
export class Machine {
  readonly root: string;
  readonly #name: string;
  readonly #init: string;
  #child: Child | undefined;

  private constructor(root: string, name: string, init: string) {
    this.root = root;
    this.#name = name;
    this.#init = init;
  }

  /** Makes two machines that reach each other as 10.9.0.1 and 10.9.0.2. @param init what process 1 is */
  static async pair(init: 'systemd' | 'nothing' = 'systemd'): Promise<readonly [Machine, Machine]> {
    const one = await debian();
    const two = await debian(); // afterwards: the first call of all makes what both copy
    const pair = [new Machine(one, `adit${process.pid}-one`, init), new Machine(two, `adit${process.pid}-two`, init)] as const;
    for (const { namespace } of pair) {
      await ip('netns', 'add', namespace);
      await ip('-n', namespace, 'link', 'set', 'lo', 'up');
    }
    await ip('link', 'add', 'eth0', 'netns', pair[0].namespace, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', pair[1].namespace);
    for (const [n, { namespace }] of pair.entries()) {
      await ip('-n', namespace, 'address', 'add', `10.9.0.${n + 1}/24`, 'dev', 'eth0');
      await ip('-n', namespace, 'link', 'set', 'eth0', 'up');
    }
    await Promise.all(pair.map((machine) => machine.boot()));
    return pair;
  }

  /** Its network namespace. */
  get namespace(): string {
    return this.#name;
  }

  /** Starts it, and waits until everything that starts at boot is started. */
  async boot(): Promise<void> {
    this.#child = new Child(programPath('ip'), ['netns', 'exec', this.#name, boot, this.root, this.#name, this.#init]);
    await this.#child.says(/^booting$/m);
    if (this.#init === 'systemd') await this.run('until [ -S /run/systemd/private ]; do sleep 0.1; done; systemctl is-system-running --wait');
  }

  /** Turns its power off. */
  async powerOff(): Promise<void> {
    await this.#child?.end();
    this.#child = undefined;
    await run('unshare', ['--mount', boot, this.root, this.#name, 'forget']);
  }

  /** Turns its power off for good. */
  async scrap(): Promise<void> {
    await this.powerOff();
    await ip('netns', 'del', this.#name);
  }

  /** Runs a line of a shell on it, as root. */
  run(line: string): Promise<Outcome> {
    return new Promise((resolve) => {
      execFile('nsenter', this.#shell(line), { maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), output: `${stdout}${stderr}` });
      });
    });
  }

  /** Starts a line of a shell on it, as root. */
  begin(line: string): Child {
    return new Child('nsenter', this.#shell(line));
  }

  #shell(line: string): readonly string[] {
    const { pid } = this.#child ?? { pid: 0 };
    const [first = ''] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    return ['--target', first, '--all', 'env', '-i', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', 'HOME=/root', 'sh', '-c', line];
  }

  /** As `run`. @throws {Error} with what it printed, unless it succeeds */
  async do(line: string): Promise<string> {
    const { code, output } = await this.run(line);
    if (code !== 0) throw new Error(`${line}: exit code ${code}\n${output}`);
    return output;
  }

  /** Starts a program of this machine in its network. */
  start(program: string, ...args: readonly string[]): Child {
    return new Child(programPath('ip'), ['netns', 'exec', this.#name, program, ...args]);
  }

  /** Copies a file or directory of this machine to it. */
  put(from: string, to: string): void {
    mkdirSync(path.join(this.root, path.dirname(to)), { recursive: true });
    cpSync(from, path.join(this.root, to), { recursive: true, verbatimSymlinks: true });
  }

  /** Its files and directories with their mode, owner and content, without those that any machine changes by itself. */
  files(): readonly string[] {
    const found: string[] = [];
    const look = (name: string): void => {
      if (BY_ITSELF.test(name)) return;
      const file = path.join(this.root, name);
      const stats = lstatSync(file);
      const content = stats.isSymbolicLink() ? readlinkSync(file) : stats.isFile() ? createHash('sha256').update(readFileSync(file)).digest('hex') : '';
      found.push(`/${name} ${(stats.mode & 0o7777).toString(8)} ${stats.uid}:${stats.gid} ${content}`);
      if (stats.isDirectory()) { for (const inside of readdirSync(file)) look(path.join(name, inside)); }
    };
    for (const name of readdirSync(this.root)) look(name);
    return found.toSorted();
  }
}

async function ip(...words: readonly string[]): Promise<void> {
  await run(programPath('ip'), words);
}
